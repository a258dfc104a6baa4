import type { DescribeRegionsRequest, DescribeRegionsResult, Region } from "@aws-sdk/client-ec2";
import { Fault } from "../../fault.ts";
import type { Action } from "../action.ts";
import { endDryRun } from "../dry-run.ts";
import { type FilterTable, filterBy } from "../filters.ts";

const FILTERS: FilterTable<Region> = {
  names: {
    endpoint: ({ Endpoint }) => [Endpoint],
    "opt-in-status": ({ OptInStatus }) => [OptInStatus],
    "region-name": ({ RegionName }) => [RegionName],
  },
};

/** A fleet is one region; its endpoint is where the caller has found it. */
export const describeRegions: Action<DescribeRegionsRequest, DescribeRegionsResult> = async (
  input,
  _principal,
  { region },
  call,
) => {
  const stranger = input.RegionNames?.find((name) => name !== region);
  if (stranger !== undefined) throw new Fault("InvalidParameterValue", `Invalid region name: ${stranger}`);
  const passes = filterBy(input.Filters, FILTERS);
  endDryRun(input);
  const only: Region = {
    RegionName: region,
    Endpoint: call.endpoint ?? "",
    OptInStatus: "opt-in-not-required",
  };
  return { Regions: [only].filter(passes) };
};
