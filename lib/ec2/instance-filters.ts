// THE TABLE of DescribeInstances' filters. A row that gives nothing is a filter that EC2 has and that no instance
// here can match, such as one by subnet.

import { type Instance, STATE_CODES } from "../instance.ts";
import type { FilterTable } from "./filters.ts";
import { privateDnsName } from "./instance-item.ts";
import { zoneName } from "./zone.ts";

const nothing = (): [] => [];

export const instanceFilters = (region: string): FilterTable<Instance> => ({
  names: {
    "instance-id": ({ id }) => [id],
    "instance-state-name": ({ state }) => [state],
    "instance-state-code": ({ state }) => [String(STATE_CODES[state])],
    "instance-type": ({ type }) => [type],
    "image-id": ({ imageId }) => [imageId],
    "reservation-id": ({ reservation }) => [reservation],
    "owner-id": ({ account }) => [account],
    "client-token": ({ clientToken }) => [clientToken],
    "key-name": ({ keyName }) => [keyName],
    "launch-index": ({ index }) => [String(index)],
    "launch-time": ({ launchedAt }) => [new Date(launchedAt).toISOString()],
    "private-ip-address": ({ privateIp }) => [privateIp],
    "private-dns-name": (instance) => [privateDnsName(instance, region)],
    reason: ({ transition }) => [transition],
    "state-reason-code": ({ stateReason }) => [stateReason?.code],
    "tag-key": ({ tags }) => tags.map(({ key }) => key),
    "tag-value": ({ tags }) => tags.map(({ value }) => value),
    "availability-zone": () => [zoneName(region)],
    architecture: () => ["x86_64"],
    hypervisor: () => ["xen"],
    "root-device-name": () => ["/dev/sda1"],
    "root-device-type": () => ["ebs"],
    tenancy: () => ["default"],
    "virtualization-type": () => ["hvm"],
    "monitoring-state": () => ["disabled"],
    "dns-name": nothing,
    "instance.group-id": nothing,
    "instance.group-name": nothing,
    "instance-lifecycle": nothing,
    "ip-address": nothing,
    "network-interface.network-interface-id": nothing,
    "placement-group-name": nothing,
    "subnet-id": nothing,
    "vpc-id": nothing,
  },
  keyed: {
    "tag:": (key) => (instance) => instance.tags.filter((tag) => tag.key === key).map(({ value }) => value),
  },
});
