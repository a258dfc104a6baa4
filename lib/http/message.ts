// An HTTP request and response as plain values, the same for both faces.
//
// Not the web's Request and Response: a signature is checked over the bytes and headers exactly as they came, and
// loading those classes costs a cold start more than everything else in this folder.

export interface HttpRequest {
  method: string;
  path: string;
  /** The query string as sent, without `?`. Never the parsed map: a repeated name is joined with commas there. */
  query: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}
