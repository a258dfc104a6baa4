import type {
  AvailabilityZone,
  DescribeAvailabilityZonesRequest,
  DescribeAvailabilityZonesResult,
} from "@aws-sdk/client-ec2";
import { Fault } from "../../fault.ts";
import type { Action } from "../action.ts";
import { endDryRun } from "../dry-run.ts";
import { type FilterTable, filterBy } from "../filters.ts";
import { zoneId, zoneName } from "../zone.ts";

const FILTERS: FilterTable<AvailabilityZone> = {
  names: {
    "group-name": ({ GroupName }) => [GroupName],
    message: () => [],
    "opt-in-status": ({ OptInStatus }) => [OptInStatus],
    "parent-zone-id": () => [],
    "parent-zone-name": () => [],
    "region-name": ({ RegionName }) => [RegionName],
    state: ({ State }) => [State],
    "zone-id": ({ ZoneId }) => [ZoneId],
    "zone-name": ({ ZoneName }) => [ZoneName],
    "zone-type": ({ ZoneType }) => [ZoneType],
  },
};

export const describeAvailabilityZones: Action<
  DescribeAvailabilityZonesRequest,
  DescribeAvailabilityZonesResult
> = async (input, _principal, { region }) => {
  const only: AvailabilityZone = {
    OptInStatus: "opt-in-not-required",
    Messages: [],
    RegionName: region,
    ZoneName: zoneName(region),
    ZoneId: zoneId(region),
    GroupName: region,
    NetworkBorderGroup: region,
    ZoneType: "availability-zone",
    State: "available",
  };
  const stranger =
    input.ZoneNames?.find((name) => name !== only.ZoneName) ??
    input.ZoneIds?.find((id) => id !== only.ZoneId);
  if (stranger !== undefined) {
    throw new Fault("InvalidParameterValue", `Invalid availability zone: [${stranger}]`);
  }
  const passes = filterBy(input.Filters, FILTERS);
  endDryRun(input);
  return { AvailabilityZones: [only].filter(passes) };
};
