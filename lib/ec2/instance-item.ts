// An instance as EC2 shows it: every list is there, so that botocore sets every key that user code reads, and the
// blocks that Terraform compares are there with EC2's defaults, since a missing one is a difference in every plan.
//
// No vpcId or subnetId: there is none, and Terraform goes on to ask about one that it is given.

import type { Instance as InstanceItem, Reservation, InstanceState as StateItem } from "@aws-sdk/client-ec2";
import { capacityOf } from "../capacity.ts";
import { type Instance, type InstanceState, STATE_CODES } from "../instance.ts";
import { privateDomain, zoneName } from "./zone.ts";

export const stateItem = (state: InstanceState): StateItem => ({ Code: STATE_CODES[state], Name: state });

/** As EC2 names a host of its own, `ip-10-0-0-1.ec2.internal`; empty until the address is known. */
export const privateDnsName = (instance: Instance, region: string): string =>
  instance.privateIp ? `ip-${instance.privateIp.replaceAll(".", "-")}.${privateDomain(region)}` : "";

export function instanceItem(instance: Instance, region: string): InstanceItem {
  const { imageId, index, keyName, privateIp, stateReason, type } = instance;
  return {
    InstanceId: instance.id,
    ImageId: imageId,
    State: stateItem(instance.state),
    PrivateDnsName: privateDnsName(instance, region),
    PublicDnsName: "",
    StateTransitionReason: instance.transition ?? "",
    ...(keyName === undefined ? {} : { KeyName: keyName }),
    AmiLaunchIndex: index,
    ProductCodes: [],
    InstanceType: type as InstanceItem["InstanceType"] & string,
    LaunchTime: new Date(instance.launchedAt),
    Placement: { AvailabilityZone: zoneName(region), GroupName: "", Tenancy: "default" },
    Monitoring: { State: "disabled" },
    ...(privateIp === undefined ? {} : { PrivateIpAddress: privateIp }),
    SourceDestCheck: true,
    SecurityGroups: [],
    ...(stateReason ? { StateReason: { Code: stateReason.code, Message: stateReason.message } } : {}),
    Architecture: "x86_64",
    RootDeviceType: "ebs",
    RootDeviceName: "/dev/sda1",
    BlockDeviceMappings: [],
    VirtualizationType: "hvm",
    ...(instance.clientToken === undefined ? {} : { ClientToken: instance.clientToken }),
    Tags: instance.tags.map(({ key, value }) => ({ Key: key, Value: value })),
    Hypervisor: "xen",
    NetworkInterfaces: [],
    EbsOptimized: false,
    EnaSupport: true,
    // A vCPU is a core to its guest.
    CpuOptions: { CoreCount: capacityOf(type)?.vcpu ?? 1, ThreadsPerCore: 1 },
    CapacityReservationSpecification: { CapacityReservationPreference: "open" },
    HibernationOptions: { Configured: false },
    EnclaveOptions: { Enabled: false },
    MetadataOptions: {
      State: "applied",
      HttpTokens: "optional",
      HttpPutResponseHopLimit: 1,
      HttpEndpoint: "enabled",
      HttpProtocolIpv6: "disabled",
      InstanceMetadataTags: "disabled",
    },
    PrivateDnsNameOptions: {
      HostnameType: "ip-name",
      EnableResourceNameDnsARecord: false,
      EnableResourceNameDnsAAAARecord: false,
    },
    MaintenanceOptions: { AutoRecovery: "default" },
  };
}

/** Instances of one reservation. */
export const reservationItem = (instances: readonly Instance[], region: string): Reservation => ({
  ReservationId: instances[0]!.reservation,
  OwnerId: instances[0]!.account,
  Groups: [],
  Instances: instances.map((instance) => instanceItem(instance, region)),
});
