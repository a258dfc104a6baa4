// A fleet is one region with one availability zone, `<region>a`.

export const zoneName = (region: string): string => `${region}a`;

/** `us-east-1` -> `use1-az1`, as AWS shortens its regions' names. */
export function zoneId(region: string): string {
  const [area = "", ...rest] = region.split("-");
  const number = rest.pop() ?? "";
  const short = rest
    .map((word) => word.replace(/(north|south)?(east|west)?(central)?(.*)/, shorten))
    .join("");
  return `${area}${short}${number}-az1`;
}

const shorten = (_: string, ...parts: unknown[]): string =>
  parts
    .slice(0, 4)
    .map((part) => (typeof part === "string" ? part.charAt(0) : ""))
    .join("");

/** The domain of private DNS names in a region. */
export const privateDomain = (region: string): string =>
  region === "us-east-1" ? "ec2.internal" : `${region}.compute.internal`;
