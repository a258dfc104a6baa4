import type { DescribeInstancesRequest, DescribeInstancesResult } from "@aws-sdk/client-ec2";
import type { Instance } from "../../instance.ts";
import type { Action } from "../action.ts";
import { endDryRun } from "../dry-run.ts";
import { filterBy } from "../filters.ts";
import { instanceFilters } from "../instance-filters.ts";
import { readInstanceIds } from "../instance-ids.ts";
import { reservationItem } from "../instance-item.ts";
import { checkPage, page } from "../page.ts";

/** Bounds of MaxResults in EC2's documentation of this action. */
const PAGE = { min: 5, max: 1000 };

export const describeInstances: Action<DescribeInstancesRequest, DescribeInstancesResult> = async (
  input,
  { account },
  deps,
  call,
) => {
  const ids = input.InstanceIds?.length ? readInstanceIds(input.InstanceIds) : undefined;
  const passes = filterBy(input.Filters, instanceFilters(deps.region));
  checkPage(input, { name: "instancesSet", given: ids !== undefined }, PAGE);
  const instances = await deps.instances.describe(account, ids, call);
  endDryRun(input);
  const { items, nextToken } = page(instances.filter(passes), input, {
    ...PAGE,
    key: byLaunch,
    listing: ["instances", account, input.Filters],
  });
  return {
    Reservations: reservationsOf(items).map((members) => reservationItem(members, deps.region)),
    ...(nextToken === undefined ? {} : { NextToken: nextToken }),
  };
};

/** Oldest first; unique, as a page's key must be. Nodes stamp the instances of one launch a little apart. */
const byLaunch = ({ launchedAt, reservation, index, id }: Instance): string =>
  [String(launchedAt).padStart(15, "0"), reservation, String(index).padStart(4, "0"), id].join("/");

const reservationsOf = (instances: readonly Instance[]): Instance[][] =>
  [...Map.groupBy(instances, ({ reservation }) => reservation).values()].map((members) =>
    members.sort((a, b) => a.index - b.index),
  );
