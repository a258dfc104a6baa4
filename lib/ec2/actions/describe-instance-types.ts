import type {
  DescribeInstanceTypesRequest,
  DescribeInstanceTypesResult,
  InstanceTypeInfo,
} from "@aws-sdk/client-ec2";
import { Fault } from "../../fault.ts";
import type { Action } from "../action.ts";
import { endDryRun } from "../dry-run.ts";
import { type FilterTable, filterBy } from "../filters.ts";
import { instanceTypeItems } from "../instance-type-item.ts";
import { checkPage, page } from "../page.ts";

/** Bounds of MaxResults in the API's model. */
const PAGE = { min: 5, max: 100 };

const FILTERS: FilterTable<InstanceTypeInfo> = {
  names: {
    "auto-recovery-supported": (item) => [String(item.AutoRecoverySupported)],
    "bare-metal": (item) => [String(item.BareMetal)],
    "burstable-performance-supported": (item) => [String(item.BurstablePerformanceSupported)],
    "current-generation": (item) => [String(item.CurrentGeneration)],
    "dedicated-hosts-supported": (item) => [String(item.DedicatedHostsSupported)],
    "free-tier-eligible": (item) => [String(item.FreeTierEligible)],
    "hibernation-supported": (item) => [String(item.HibernationSupported)],
    hypervisor: (item) => [item.Hypervisor],
    "instance-storage-supported": (item) => [String(item.InstanceStorageSupported)],
    "instance-type": (item) => [item.InstanceType],
    "memory-info.size-in-mib": (item) => [String(item.MemoryInfo?.SizeInMiB)],
    "processor-info.supported-architecture": (item) => item.ProcessorInfo?.SupportedArchitectures ?? [],
    "supported-boot-mode": (item) => item.SupportedBootModes ?? [],
    "supported-root-device-type": (item) => item.SupportedRootDeviceTypes ?? [],
    "supported-usage-class": (item) => item.SupportedUsageClasses ?? [],
    "supported-virtualization-type": (item) => item.SupportedVirtualizationTypes ?? [],
    "vcpu-info.default-cores": (item) => [String(item.VCpuInfo?.DefaultCores)],
    "vcpu-info.default-threads-per-core": (item) => [String(item.VCpuInfo?.DefaultThreadsPerCore)],
    "vcpu-info.default-vcpus": (item) => [String(item.VCpuInfo?.DefaultVCpus)],
  },
};

export const describeInstanceTypes: Action<
  DescribeInstanceTypesRequest,
  DescribeInstanceTypesResult
> = async (input) => {
  const wanted = input.InstanceTypes?.length ? new Set<string>(input.InstanceTypes) : undefined;
  const passes = filterBy(input.Filters, FILTERS);
  checkPage(input, { name: "instanceTypes", given: wanted !== undefined }, PAGE);
  const all = instanceTypeItems();
  const known = new Set<string | undefined>(all.map(({ InstanceType: name }) => name));
  const unknown = [...(wanted ?? [])].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new Fault(
      "UnknownInstanceType",
      `The following supplied instance types do not exist: [${unknown.join(", ")}]`,
    );
  }
  endDryRun(input);
  const chosen = all.filter((item) => (wanted?.has(item.InstanceType ?? "") ?? true) && passes(item));
  const { items, nextToken } = page(chosen, input, {
    ...PAGE,
    key: ({ InstanceType: name = "" }) => name,
    listing: ["instance-types", input.Filters],
  });
  return { InstanceTypes: items, ...(nextToken === undefined ? {} : { NextToken: nextToken }) };
};
