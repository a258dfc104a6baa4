// A figure: one number, set beside what it is to be judged by.
//
// A time alone says more about the machine than about the product, so a figure is a ratio or a difference between two
// things that were measured in turn in the same run, or a count. The raw numbers stand beside it.

export type Aim = { atMost: number } | { atLeast: number };

export interface Figure {
  /** `benchmark.what`, the same in every run. */
  figure: string;
  value: number;
  unit: string;
  /** Absent where a number is only told. */
  aim?: Aim;
  /** The raw numbers: the floor or peer, counts, spread. */
  beside: Readonly<Record<string, number | string>>;
  /** How it was measured, in a sentence. */
  how: string;
}

/** What one benchmark found; `omitted` says which figures are missing and why. */
export interface Findings {
  figures: Figure[];
  omitted?: string;
}

/** Three digits after the point are beyond what any of these measurements can tell apart. */
export const rounded = (value: number): number => Math.round(value * 1000) / 1000;

const isMet = (value: number, aim: Aim): boolean =>
  "atMost" in aim ? value <= aim.atMost : value >= aim.atLeast;

const aimText = (aim: Aim): string =>
  "atMost" in aim ? `<= ${rounded(aim.atMost)}` : `>= ${rounded(aim.atLeast)}`;

/** The figure as its line on stdout. */
export const jsonLine = ({ figure, value, unit, aim, beside, how }: Figure): string =>
  JSON.stringify({
    figure,
    value: rounded(value),
    unit,
    aim: aim ? aimText(aim) : null,
    met: aim ? isMet(value, aim) : null,
    beside: Object.fromEntries(
      Object.entries(beside).map(([name, raw]) => [name, typeof raw === "number" ? rounded(raw) : raw]),
    ),
    how,
  });

/** All figures for people: one row each, aims that were missed marked. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(({ figure, value, unit, aim, beside }) => [
    figure,
    `${rounded(value)} ${unit}`,
    aim ? aimText(aim) : "",
    aim ? (isMet(value, aim) ? "met" : "MISSED") : "",
    Object.entries(beside)
      .map(([name, raw]) => `${name} ${typeof raw === "number" ? rounded(raw) : raw}`)
      .join(", "),
  ]);
  const all = [["figure", "value", "aim", "", "beside"], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
