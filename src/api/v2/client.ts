// The client of v2.

import { ApiClient, type ClientOptions, type PreparedCall } from '../client.js';
import type { ApiError } from '../errors.js';
import type { Exchange } from '../http.js';
import type { Operation, Route } from '../operation.js';
import { v2Error } from './errors.js';
import { v2Operations } from './operations.js';
import { type Routes, routeOf } from './routes.js';

export interface V2ClientOptions extends ClientOptions {
  /** Routes of the operations whose method and path the provider does not publish (V2-15). */
  readonly routes?: Routes;
}

/** The Company Data Platform API (v2): every module. */
export class PlatformV2Client extends ApiClient<typeof v2Operations> {
  readonly #routes: Routes;

  constructor(options: V2ClientOptions) {
    super('v2', v2Operations, 'Token', options);
    this.#routes = options.routes ?? {};
  }

  protected override classify(exchange: Exchange, { operation, params }: PreparedCall): ApiError | undefined {
    const { rename } = this.routeOf(operation);
    // An ID comes from the provider, not from the row.
    const values = Object.keys(params).filter((name) => name !== operation.subject?.param);
    const rowsOwn = values.flatMap((name) => [name, rename?.[name] ?? name]);
    return v2Error(exchange, operation, this.clock.now(), rowsOwn);
  }

  protected override routeOf(operation: Operation): Route {
    return routeOf(operation, this.#routes);
  }
}
