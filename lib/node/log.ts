// The daemon's log: one JSON object a line, on stderr.

export interface Log {
  info(event: string, fields?: Record<string, unknown>): void;
  error(event: string, error: unknown, fields?: Record<string, unknown>): void;
}

/** @param node goes into every line */
export function createLog(
  node: string,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
  const line = (level: string, event: string, fields: Record<string, unknown>) =>
    write(`${JSON.stringify({ at: new Date().toISOString(), level, node, event, ...fields })}\n`);
  return {
    info: (event, fields = {}) => line("info", event, fields),
    error: (event, error, fields = {}) =>
      line("error", event, {
        ...fields,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  };
}
