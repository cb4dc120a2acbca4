/** The APIs that rows are worked on with. */
export type BatchApi = 'v1' | 'v2';

/** Whose operation it is. `mcp`: the connector server, whose tools are called by hand only. */
export type ApiName = BatchApi | 'mcp';

/** Something for each API; a run has nothing to do with the connector server. */
export type ByApi<T> = Readonly<Record<BatchApi, T>> & { readonly mcp?: T };
