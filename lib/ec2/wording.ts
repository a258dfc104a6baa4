// Refusals of a parameter in EC2's words.

import { Fault } from "../fault.ts";

/** What a refused value is shown as at most: the caller knows the rest. */
const SHOWN_CHARACTERS = 100;

export const missing = (name: string): Fault =>
  new Fault("MissingParameter", `The request must contain the parameter ${name}`);

export const unknown = (name: string): Fault =>
  new Fault("UnknownParameter", `The parameter ${shown(name)} is not recognized`);

/** @param expected what would be allowed */
export const invalid = (name: string, value: string | number, expected: string): Fault =>
  new Fault(
    "InvalidParameterValue",
    `Value ( ${shown(String(value))} ) for parameter ${name} is invalid. Expecting ${expected}.`,
  );

const shown = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
