// EC2's filter patterns: `*` any number of characters, `?` exactly one, `\` takes the next one literally; the whole
// text must match, case counts, and nothing else is special.
//
// Not a regular expression: `*a*a*a*a*b` against a long tag would take one for minutes.

type Step = { literal: string } | "one" | "many";

function compile(pattern: string): Step[] {
  const steps: Step[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === "*") steps.push("many");
    else if (character === "?") steps.push("one");
    else if (character === "\\" && at + 1 < characters.length) steps.push({ literal: characters[++at]! });
    else steps.push({ literal: character });
  }
  return steps;
}

/** @returns a test for texts that match the whole of `pattern` */
export function glob(pattern: string): (text: string) => boolean {
  if (!/[*?\\]/.test(pattern)) return (text) => text === pattern;
  const steps = compile(pattern);
  return (text) => matches(steps, [...text]);
}

/** Greedy with one way back: to the last `many`, which then takes one character more. */
function matches(steps: readonly Step[], characters: readonly string[]): boolean {
  let step = 0;
  let at = 0;
  let lastMany = -1;
  let takenBy = 0;
  while (at < characters.length) {
    const wanted = steps[step];
    if (wanted === "many") {
      lastMany = step++;
      takenBy = at;
    } else if (wanted === "one" || (wanted !== undefined && wanted.literal === characters[at])) {
      step++;
      at++;
    } else if (lastMany >= 0) {
      step = lastMany + 1;
      at = ++takenBy;
    } else {
      return false;
    }
  }
  while (steps[step] === "many") step++;
  return step === steps.length;
}
