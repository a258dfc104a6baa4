// The EC2 face: event -> parse -> authorise -> operate -> render. Faults are thrown and rendered by the handler.

import type { AccessKey } from "../config.ts";
import { Fault } from "../fault.ts";
import type { Face } from "../http/handler.ts";
import type { LogLine } from "../http/log.ts";
import { current, type Kept } from "../secret.ts";
import { actionNamed } from "./actions.ts";
import { type Authority, authorise } from "./authorise.ts";
import { readConsoleEvent } from "./console-event.ts";
import type { Call, Ec2Deps, Principal } from "./deps.ts";
import { bodyText, type Parameters, readParameters } from "./parameters.ts";
import { type ParseOptions, parseInput } from "./parse.ts";
import { render, renderFault } from "./render.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** Older versions are answered in the shapes of 2016-11-15, as is a request that names none. */
const VERSION = /^\d{4}-\d{2}-\d{2}$/;

export function createEc2Face(deps: Ec2Deps, accessKeys: Kept<readonly AccessKey[]>): Face {
  const authority: Authority = { keys: accessKeys, region: deps.region, service: "ec2" };

  const operate = async (
    parameters: Parameters,
    principal: Principal,
    call: Call,
    line: LogLine,
    options: ParseOptions = {},
  ) => {
    const name = parameters.get("Action");
    if (!name) throw new Fault("MissingAction");
    const action = actionNamed(name);
    if (!action) throw new Fault("InvalidAction", `The action ${name} is not valid for this web service.`);
    line.action = name;
    const version = parameters.get("Version");
    if (version && !VERSION.test(version)) throw new Fault("InvalidVersion");
    const input = parseInput(name, parameters, options);
    return { name, output: await action(input, principal, deps, call) };
  };

  return {
    maxBodyBytes: MAX_BODY_BYTES,

    async answer(request, call, line) {
      if (request.path !== "/")
        throw new Fault("NotFound", `There is nothing at ${request.path}; EC2 is at /`);
      const principal = await authorise(request, readParameters(request.query), authority, Date.now());
      line.account = principal.account;
      if (principal.accessKeyId) line.accessKeyId = principal.accessKeyId;
      const parameters = readParameters(request.query, bodyText(request.body));
      const { name, output } = await operate(parameters, principal, call, line);
      return render(name, output, call.requestId);
    },

    renderFault,

    async invoke(event, call, line) {
      const principal = { account: (await current(accessKeys))[0]!.account };
      line.account = principal.account;
      const { output } = await operate(readConsoleEvent(event), principal, call, line, { memberNames: true });
      return { requestId: call.requestId, ...output };
    },
  };
}
