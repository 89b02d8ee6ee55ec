import type { ExplainPermissionResponse } from '#gen/roster/grants/v1/permission_service'

/** The part of an answer that explains. */
export type Explained = Pick<ExplainPermissionResponse, 'allowed' | 'obstacles' | 'grounds' | 'hidden' | 'incomplete'>
