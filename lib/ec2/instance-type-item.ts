// An instance type as EC2 shows it. None is burstable: Terraform would go on to ask for its CPU credits.

import type { InstanceTypeInfo } from "@aws-sdk/client-ec2";
import { INSTANCE_TYPES, type InstanceTypeSpec } from "../capacity.ts";

export const instanceTypeItems = (): InstanceTypeInfo[] =>
  Object.entries(INSTANCE_TYPES).map(([name, spec]) => instanceTypeItem(name, spec));

function instanceTypeItem(name: string, { vcpu, memMiB, gpu }: InstanceTypeSpec): InstanceTypeInfo {
  return {
    InstanceType: name as NonNullable<InstanceTypeInfo["InstanceType"]>,
    CurrentGeneration: true,
    FreeTierEligible: false,
    SupportedUsageClasses: ["on-demand"],
    SupportedRootDeviceTypes: ["ebs"],
    SupportedVirtualizationTypes: ["hvm"],
    BareMetal: false,
    Hypervisor: "nitro",
    ProcessorInfo: { SupportedArchitectures: ["x86_64"] },
    VCpuInfo: { DefaultVCpus: vcpu, DefaultCores: vcpu, DefaultThreadsPerCore: 1 },
    MemoryInfo: { SizeInMiB: memMiB },
    InstanceStorageSupported: false,
    ...(gpu
      ? {
          GpuInfo: {
            Gpus: [
              {
                Name: gpu.name,
                Manufacturer: "NVIDIA",
                Count: gpu.count,
                MemoryInfo: { SizeInMiB: gpu.memMiB },
              },
            ],
            TotalGpuMemoryInMiB: gpu.count * gpu.memMiB,
          },
        }
      : {}),
    PlacementGroupInfo: { SupportedStrategies: [] },
    HibernationSupported: false,
    BurstablePerformanceSupported: false,
    DedicatedHostsSupported: false,
    AutoRecoverySupported: false,
    SupportedBootModes: ["legacy-bios", "uefi"],
  };
}
