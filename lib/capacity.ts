// Capacity: vCPU, memory and GPUs as one vector, and what each instance type asks of a node.
//
// One function decides whether something fits (`howMany`), and the same function advertises: a node that
// advertised with other arithmetic than it admits with was refused after being planned (seen in Spinifex).

export interface Gpu {
  name: string;
  count: number;
  /** Memory of one GPU. */
  memMiB: number;
}

/** What an instance type needs, or what a node has; `gpus` counts devices by model name. */
export interface Capacity {
  vcpu: number;
  memMiB: number;
  gpus: Readonly<Record<string, number>>;
}

export interface InstanceTypeSpec {
  vcpu: number;
  memMiB: number;
  gpu?: Gpu;
}

/** THE TABLE of instance types on offer, by AWS's published sizes. */
export const INSTANCE_TYPES: Readonly<Record<string, InstanceTypeSpec>> = {
  "t3.nano": { vcpu: 2, memMiB: 512 },
  "t3.micro": { vcpu: 2, memMiB: 1024 },
  "t3.small": { vcpu: 2, memMiB: 2048 },
  "t3.medium": { vcpu: 2, memMiB: 4096 },
  "t3.large": { vcpu: 2, memMiB: 8192 },
  "t3.xlarge": { vcpu: 4, memMiB: 16384 },
  "t3.2xlarge": { vcpu: 8, memMiB: 32768 },
  "m5.large": { vcpu: 2, memMiB: 8192 },
  "m5.xlarge": { vcpu: 4, memMiB: 16384 },
  "m5.2xlarge": { vcpu: 8, memMiB: 32768 },
  "m5.4xlarge": { vcpu: 16, memMiB: 65536 },
  "c5.large": { vcpu: 2, memMiB: 4096 },
  "c5.xlarge": { vcpu: 4, memMiB: 8192 },
  "c5.2xlarge": { vcpu: 8, memMiB: 16384 },
  "r5.large": { vcpu: 2, memMiB: 16384 },
  "r5.xlarge": { vcpu: 4, memMiB: 32768 },
  "r5.2xlarge": { vcpu: 8, memMiB: 65536 },
  "g4dn.xlarge": { vcpu: 4, memMiB: 16384, gpu: { name: "T4", count: 1, memMiB: 16384 } },
  "g5.xlarge": { vcpu: 4, memMiB: 16384, gpu: { name: "A10G", count: 1, memMiB: 22888 } },
  "g6.xlarge": { vcpu: 4, memMiB: 16384, gpu: { name: "L4", count: 1, memMiB: 22888 } },
  "g6e.xlarge": { vcpu: 4, memMiB: 32768, gpu: { name: "L40S", count: 1, memMiB: 45776 } },
  "g6e.2xlarge": { vcpu: 8, memMiB: 65536, gpu: { name: "L40S", count: 1, memMiB: 45776 } },
  "g6e.4xlarge": { vcpu: 16, memMiB: 131072, gpu: { name: "L40S", count: 1, memMiB: 45776 } },
  "g6e.12xlarge": { vcpu: 48, memMiB: 393216, gpu: { name: "L40S", count: 4, memMiB: 45776 } },
  "p5.4xlarge": { vcpu: 16, memMiB: 262144, gpu: { name: "H100", count: 1, memMiB: 81920 } },
  "p5.48xlarge": { vcpu: 192, memMiB: 2097152, gpu: { name: "H100", count: 8, memMiB: 81920 } },
};

/** A name that may go into a NATS subject: `family.size`, nothing that NATS reads as a wildcard. */
export const INSTANCE_TYPE_NAME = /^[a-z0-9-]+\.[a-z0-9-]+$/;

export const NO_CAPACITY: Capacity = { vcpu: 0, memMiB: 0, gpus: {} };

/** @returns what one instance of `type` takes, or undefined for a type that is not on offer. */
export function capacityOf(type: string): Capacity | undefined {
  const spec = Object.hasOwn(INSTANCE_TYPES, type) ? INSTANCE_TYPES[type] : undefined;
  if (!spec) return undefined;
  return { vcpu: spec.vcpu, memMiB: spec.memMiB, gpus: spec.gpu ? { [spec.gpu.name]: spec.gpu.count } : {} };
}

export function times(one: Capacity, count: number): Capacity {
  return {
    vcpu: one.vcpu * count,
    memMiB: one.memMiB * count,
    gpus: Object.fromEntries(Object.entries(one.gpus).map(([name, n]) => [name, n * count])),
  };
}

export function plus(a: Capacity, b: Capacity): Capacity {
  const names = new Set([...Object.keys(a.gpus), ...Object.keys(b.gpus)]);
  return {
    vcpu: a.vcpu + b.vcpu,
    memMiB: a.memMiB + b.memMiB,
    gpus: Object.fromEntries([...names].map((name) => [name, (a.gpus[name] ?? 0) + (b.gpus[name] ?? 0)])),
  };
}

export const minus = (a: Capacity, b: Capacity): Capacity => plus(a, times(b, -1));

/** How many of `one` fit into `free`: whole numbers, never negative. */
export function howMany(free: Capacity, one: Capacity): number {
  const limits = [free.vcpu / one.vcpu, free.memMiB / one.memMiB];
  for (const [name, count] of Object.entries(one.gpus)) {
    if (count > 0) limits.push((free.gpus[name] ?? 0) / count);
  }
  return Math.max(0, Math.floor(Math.min(...limits)));
}

const SIZE = /^(\d+)x(\d+(?:\.\d+)?)$/;

/**
 * Reads a node size such as `8x16`: schedulable vCPUs by GiB of memory.
 * @returns undefined when the text is no size.
 */
export function parseSize(text: string): Capacity | undefined {
  const found = SIZE.exec(text.trim());
  if (!found) return undefined;
  const vcpu = Number(found[1]);
  const memMiB = Math.floor(Number(found[2]) * 1024);
  return vcpu > 0 && memMiB > 0 ? { vcpu, memMiB, gpus: {} } : undefined;
}
