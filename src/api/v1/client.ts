import { sanitizeText } from '../../util/sanitize-text.js';
import { ApiClient, type ClientOptions, invalidParams, type PreparedCall } from '../client.js';
import type { ApiError } from '../errors.js';
import { type Exchange, requestIdIn, type WireRequest } from '../http.js';
import type { Operation, Route } from '../operation.js';
import { statedCharge, unexpectedUnits } from './allowance.js';
import { v1Error } from './errors.js';
import { v1Operations } from './operations.js';

/** The provider says 64 KB, which may be 64,000 or 65,536 bytes: the smaller is safe (V1-13). */
const BODY_LIMIT_BYTES = 64_000;

/** The KYB Company Data API (v1). Every success costs one unit. */
export class KybV1Client extends ApiClient<typeof v1Operations> {
  #versionWarned = false;
  #unitsWarned = false;

  constructor(options: ClientOptions) {
    super('v1', v1Operations, 'Bearer', options);
  }

  protected override classify(exchange: Exchange, { operation }: PreparedCall): ApiError | undefined {
    if (exchange.status === 200) {
      this.#checkVersion(exchange);
      this.#checkUnits(exchange);
    }
    return v1Error(exchange, operation, this.clock.now());
  }

  protected override routeOf(operation: Operation): Route {
    if (operation.route === null) throw new TypeError(`${operation.name} has no route`);
    return operation.route;
  }

  protected override requestIdOf(exchange: Exchange): string | undefined {
    return requestIdIn(exchange.headers);
  }

  protected override statedCharge({ headers }: Exchange): 'charged' | 'free' | undefined {
    return statedCharge(headers);
  }

  protected override checkWire(operation: Operation, wire: WireRequest): void {
    const size = wire.body === null ? 0 : Buffer.byteLength(wire.body);
    if (size > BODY_LIMIT_BYTES) {
      throw invalidParams(operation, [`the request body has ${size} bytes, the limit is ${BODY_LIMIT_BYTES}`]);
    }
  }

  #checkUnits({ headers }: Exchange): void {
    const odd = unexpectedUnits(headers);
    if (odd === undefined || this.#unitsWarned) return;
    this.#unitsWarned = true;
    this.warn(
      odd.counted > 1
        ? `v1 charged ${odd.counted} units for one call; its document says 1. kybatch counts ${odd.counted}, against --max-units too`
        : `v1 says that a call has cost ${JSON.stringify(odd.said)} units; its document says 1. kybatch counts 1. If that is wrong, \`kybatch usage\` shows drift`,
      'UNITS_UNEXPECTED',
    );
  }

  #checkVersion(exchange: Exchange): void {
    const version = exchange.headers['service-api-version'];
    if (version === 'v1' || this.#versionWarned) return;
    this.#versionWarned = true;
    this.warn(
      `v1 answers as version ${version === undefined ? '(none)' : sanitizeText(version, 40)}; this program was written for v1`,
      'VERSION_UNEXPECTED',
    );
  }
}
