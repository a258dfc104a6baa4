// What an operation knows of the call it answers: nothing of HTTP or Lambda.

export interface Call {
  /** Names the call in the answer and in the log. */
  requestId: string;
  /** Epoch ms by which the answer must leave; after it the handler has answered by itself. */
  answerBy: number;
  /** Host and port that the caller used, where there was one. */
  endpoint?: string;
}
