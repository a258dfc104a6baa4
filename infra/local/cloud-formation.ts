// YAML with CloudFormation's tags. What a tag means is only known to AWS: `!Ref Table` reads as `Table`.

import { parse } from "yaml";

export const parseCloudFormation = (text: string): unknown => parse(text, { logLevel: "error" });
