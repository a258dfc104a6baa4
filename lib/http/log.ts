// One JSON object a request. What it holds is listed here, so that no secret gets in by accident: a log line is
// never built from a request's headers, parameters or body.

export interface LogLine {
  requestId: string;
  action?: string;
  account?: string;
  accessKeyId?: string;
  status?: number;
  /** The fault's code, where there was one. */
  code?: string;
  ms?: number;
  /** Only where the fault is on this side: what it was, with its stack if it was not expected. */
  error?: string;
}

export type Log = (line: LogLine) => void;

export const writeLog: Log = (line) => console.log(JSON.stringify(line));
