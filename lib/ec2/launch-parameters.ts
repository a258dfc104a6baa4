// THE TABLE of RunInstances parameters that a fleet of one's own cannot honour.
//
// Ordinary clients (the CLI, Terraform, SDK scripts) send security groups, subnets and block devices with every
// launch. Those are accepted and ignored where the instance is still what was asked for. A parameter whose loss
// would make it something else is refused, named, and not retried. A new member of the SDK's type does not compile
// until it has a row.

import type { RunInstancesRequest } from "@aws-sdk/client-ec2";
import { Fault } from "../fault.ts";
import { zoneName } from "./zone.ts";

/** Read by the launch or by the nodes, or both. */
type Honoured =
  | "ImageId"
  | "InstanceType"
  | "MinCount"
  | "MaxCount"
  | "ClientToken"
  | "DryRun"
  | "KeyName"
  | "UserData"
  | "TagSpecifications"
  | "Placement"
  | "InstanceInitiatedShutdownBehavior";

type Other = Exclude<keyof RunInstancesRequest, Honoured>;

type Row<Value> =
  /** Accepted and ignored, since … */
  | { ignored: string }
  /** Refused, since …; with `unless`, values that ask for nothing are let through. */
  | { refused: string; unless?: (value: Value) => boolean };

type Table = { readonly [Name in Other]-?: Row<NonNullable<RunInstancesRequest[Name]>> };

const network = { ignored: "a node's network is what its owner made it; there are no VPCs to choose from" };

const PARAMETERS: Table = {
  SecurityGroupIds: network,
  SecurityGroups: network,
  SubnetId: network,
  NetworkInterfaces: {
    refused: "an interface or address of the caller's choice cannot be attached",
    unless: (interfaces) =>
      interfaces.every(
        (one) =>
          !one.NetworkInterfaceId && !one.PrivateIpAddress && !one.PrivateIpAddresses && !one.Ipv6Addresses,
      ),
  },
  NetworkPerformanceOptions: network,
  PrivateDnsNameOptions: network,
  EnablePrimaryIpv6: network,
  Ipv6AddressCount: { refused: "guests have no IPv6 addresses", unless: (count) => count === 0 },
  Ipv6Addresses: { refused: "guests have no IPv6 addresses" },
  PrivateIpAddress: { refused: "an address cannot be chosen; the caller would look for the instance there" },
  SecondaryInterfaces: { refused: "a guest has one interface" },
  BlockDeviceMappings: { ignored: "a guest's disk is a copy of its image, and ends with it" },
  EbsOptimized: { ignored: "there are no network volumes" },
  Monitoring: { ignored: "there is no CloudWatch to send more to" },
  MetadataOptions: { ignored: "there is no metadata endpoint to protect" },
  MaintenanceOptions: { ignored: "there is no automatic recovery" },
  CreditSpecification: { ignored: "no type here is burstable" },
  AdditionalInfo: { ignored: "EC2 reserves it" },
  KernelId: { refused: "an image boots its own kernel" },
  RamdiskId: { refused: "an image boots its own kernel" },
  LaunchTemplate: { refused: "launch templates are not kept here, and what one holds is not known" },
  InstanceMarketOptions: { refused: "there is no spot market; the caller would count on being charged less" },
  CapacityReservationSpecification: {
    refused: "there are no capacity reservations to run in",
    unless: ({ CapacityReservationTarget: target, CapacityReservationPreference: preference }) =>
      !target && preference !== "capacity-reservations-only",
  },
  IamInstanceProfile: { refused: "a guest gets no AWS credentials, and would fail later without them" },
  CpuOptions: { refused: "a guest has the vCPUs of its type" },
  ElasticGpuSpecification: { refused: "a guest has the GPUs of its type" },
  ElasticInferenceAccelerators: { refused: "a guest has the GPUs of its type" },
  HibernationOptions: { refused: "guests cannot hibernate", unless: ({ Configured }) => !Configured },
  EnclaveOptions: { refused: "guests have no enclaves", unless: ({ Enabled }) => !Enabled },
  LicenseSpecifications: { refused: "there is no License Manager" },
  DisableApiTermination: {
    refused: "termination protection is not kept; the caller would rely on it",
    unless: (disable) => !disable,
  },
  DisableApiStop: {
    refused: "stop protection is not kept; the caller would rely on it",
    unless: (disable) => !disable,
  },
  Operator: { refused: "no AWS service operates instances here" },
};

type Placement = NonNullable<RunInstancesRequest["Placement"]>;

/** Of Placement only what is already so can be asked for. */
const PLACEMENT: { readonly [Name in keyof Placement]: (value: string, region: string) => boolean } = {
  AvailabilityZone: (zone, region) => zone === zoneName(region),
  Tenancy: (tenancy) => tenancy === "default",
};

/** @throws Fault Unsupported or InvalidParameterValue naming the parameter */
export function refuseUnsupported(input: RunInstancesRequest, region: string): void {
  for (const [name, row] of Object.entries(PARAMETERS) as [Other, Row<unknown>][]) {
    const value = input[name];
    if (value === undefined || "ignored" in row || row.unless?.(value)) continue;
    throw new Fault("Unsupported", `The parameter ${name} is not supported: ${row.refused}`);
  }
  for (const [name, value] of Object.entries(input.Placement ?? {}) as [keyof Placement, unknown][]) {
    // Terraform sends what it does not set as an empty string.
    if (value === "" || PLACEMENT[name]?.(String(value), region)) continue;
    if (name === "AvailabilityZone") {
      throw new Fault("InvalidParameterValue", `Invalid availability zone: [${value}]`);
    }
    throw new Fault(
      "Unsupported",
      `The parameter Placement.${name} is not supported: the fleet places instances`,
    );
  }
}

/** @throws Fault InvalidParameterCombination, in EC2's words */
export function refuseCombinations(input: RunInstancesRequest): void {
  const conflict = (first: string, second: string): Fault =>
    new Fault(
      "InvalidParameterCombination",
      `The parameter ${first} cannot be used with the parameter ${second}`,
    );
  if (input.SecurityGroups && input.SubnetId) throw conflict("groupName", "subnet");
  if (!input.NetworkInterfaces) return;
  if (input.SubnetId || input.SecurityGroupIds || input.SecurityGroups) {
    throw new Fault(
      "InvalidParameterCombination",
      "Network interfaces and an instance-level subnet ID or security groups may not be specified on the same request",
    );
  }
}
