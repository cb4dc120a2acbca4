import { type Dispatcher, Pool } from 'undici';

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Load {
  readonly calls: number;
  readonly bytes: number;
  readonly seconds: number;
}

const inFlight = 64;

/** Repeats the calls, 64 in flight, for this long. Any answer but a 200 is an error. */
export async function load(origin: string, calls: readonly Call[], milliseconds: number): Promise<Load> {
  const pool = new Pool(origin, { connections: inFlight, pipelining: 1 });
  const started = performance.now();
  let done = 0;
  let bytes = 0;
  let next = 0;
  const worker = async () => {
    while (performance.now() - started < milliseconds) {
      const call = calls[next++ % calls.length];
      if (!call) throw new RangeError('There is nothing to send.');
      const received = await send(pool, call);
      bytes += received;
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - started) / 1_000;
  await pool.close();
  return { calls: done, bytes, seconds };
}

/** Uses the lowest level of the library, so that the client costs as little as possible. */
function send(pool: Pool, { method, path, headers, body }: Call): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode;
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length;
      },
      onResponseEnd() {
        if (status === 200) resolve(bytes);
        else reject(new Error(`${method} ${path} was answered with ${status}.`));
      },
      onResponseError(_controller, error) {
        reject(error);
      },
    };
    pool.dispatch({ method, path, headers, body: body ?? null }, handler);
  });
}
