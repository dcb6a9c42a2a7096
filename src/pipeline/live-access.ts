// The rights of one caller on one view as they are whenever they are asked for: for what stays open while the config
// changes. A call keeps the rights that it began with.
import { NO_ACCESS_AT_ALL, type ServerAccess } from '../access/server-access.ts';
import { GatewayError } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { enterView } from './view.ts';

export function liveAccess(gateway: GatewayContext, exchange: Exchange): ServerAccess {
  let asked: GatewayContext | undefined;
  let access = NO_ACCESS_AT_ALL;
  const now = () => {
    const current = gateway.current();
    if (current !== asked) {
      asked = current;
      access = accessBy(current, exchange);
    }
    return access;
  };
  return {
    get enforced() {
      return now().enforced;
    },
    get whole() {
      return now().whole;
    },
    get rights() {
      return now().rights;
    },
    get heldScopes() {
      return now().heldScopes;
    },
    sees: (kind) => now().sees(kind),
    decide: (...asking) => now().decide(...asking),
    listsTemplate: (template) => now().listsTemplate(template),
    describe: (about) => now().describe(about),
  };
}

function accessBy(gateway: GatewayContext, exchange: Exchange): ServerAccess {
  try {
    return enterView(gateway, exchange).access;
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'view-unknown') return NO_ACCESS_AT_ALL;
    throw thrown;
  }
}
