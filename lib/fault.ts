// The one error type and the table of its codes. A fault ends a request; an expected outcome is a tagged value.
//
// Rule: what a retry cannot help is 4xx. Every AWS SDK retries 5xx by itself, the older botocore five times,
// so a permanent condition answered as 5xx multiplies the load exactly when the fleet is busy.

interface FaultRow {
  /** HTTP status on every face. */
  status: number;
  /** The `Code` of EC2's error envelope. */
  ec2: string;
  /** Whether sending the same request again can succeed. */
  retryable: boolean;
  /** Words used when the thrower has nothing more precise to say. */
  words: string;
}

const row = (status: number, ec2: string, words: string, retryable = false): FaultRow => ({
  status,
  ec2,
  retryable,
  words,
});

/** THE TABLE. Codes and statuses follow EC2's public error list; capacity is 503 where AWS says 500 (SDKs retry both). */
export const FAULTS = {
  MissingAction: row(400, "MissingAction", "The request is missing the parameter Action"),
  InvalidAction: row(400, "InvalidAction", "The action is not valid for this web service."),
  InvalidVersion: row(
    400,
    "InvalidParameterValue",
    "The parameter Version must be a date such as 2016-11-15",
  ),
  MalformedQueryString: row(400, "MalformedQueryString", "The query string contains a syntax error"),
  UnknownParameter: row(400, "UnknownParameter", "The parameter is not recognized"),
  MissingParameter: row(400, "MissingParameter", "The request must contain a parameter that is missing"),
  InvalidParameterValue: row(400, "InvalidParameterValue", "A parameter has a value that is not allowed"),
  InvalidParameterCombination: row(400, "InvalidParameterCombination", "These parameters cannot be combined"),
  FilterLimitExceeded: row(400, "FilterLimitExceeded", "A filter has more values than one call may have"),
  TagLimitExceeded: row(400, "TagLimitExceeded", "More tags were specified than one resource may have"),
  UnknownInstanceType: row(400, "InvalidInstanceType", "The instance type does not exist"),
  InvalidUserData: row(400, "InvalidUserData.Malformed", "User data must be base64 of at most 16384 bytes"),
  MalformedImageId: row(400, "InvalidAMIID.Malformed", "The image id is malformed"),
  UnknownImage: row(400, "InvalidAMIID.NotFound", "The image does not exist"),
  MalformedInstanceId: row(400, "InvalidInstanceID.Malformed", "The instance id is malformed"),
  UnknownInstance: row(400, "InvalidInstanceID.NotFound", "The instance does not exist"),
  IncorrectInstanceState: row(
    400,
    "IncorrectInstanceState",
    "The instance is not in a state that allows this",
  ),
  IdempotentParameterMismatch: row(
    400,
    "IdempotentParameterMismatch",
    "The client token was used before with other parameters",
  ),
  Unsupported: row(
    400,
    "Unsupported",
    "No node of this fleet is large enough for the requested instance type",
  ),
  RequestExpired: row(400, "RequestExpired", "Request has expired."),
  IncompleteSignature: row(400, "IncompleteSignature", "The Authorization header is malformed"),
  AuthFailure: row(401, "AuthFailure", "AWS was not able to validate the provided access credentials"),
  MissingAuthenticationToken: row(403, "MissingAuthenticationToken", "The request is not signed"),
  UnauthorizedOperation: row(
    403,
    "UnauthorizedOperation",
    "You are not authorized to perform this operation",
  ),
  NotFound: row(404, "InvalidAction", "There is nothing at this path"),
  DryRunOperation: row(412, "DryRunOperation", "Request would have succeeded, but DryRun flag is set."),
  RequestEntityTooLarge: row(413, "RequestEntityTooLarge", "The request body is larger than allowed"),
  InternalError: row(500, "InternalError", "An internal error has occurred", true),
  InsufficientInstanceCapacity: row(
    503,
    "InsufficientInstanceCapacity",
    "No node of this fleet has room for the requested instances",
    true,
  ),
  ServiceUnavailable: row(503, "ServiceUnavailable", "The service cannot answer right now", true),
  Unavailable: row(503, "Unavailable", "The outcome is not known yet; send the same request again", true),
} as const satisfies Record<string, FaultRow>;

export type FaultCode = keyof typeof FAULTS;

export class Fault extends Error {
  readonly code: FaultCode;
  /** Seconds after which a retry may help, for the Retry-After header. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: FaultCode,
    message?: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message ?? FAULTS[code].words, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Fault";
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return FAULTS[this.code].status;
  }

  get ec2Code(): string {
    return FAULTS[this.code].ec2;
  }
}
