import { QueryClient, useQuery, type UseQueryOptions, type UseQueryResult } from '@tanstack/preact-query'
import { call } from './call.ts'
import type { Method, Request, Response } from './sent.ts'
import { ApiError } from './errors.ts'
import { useOrganization } from '../address/place.ts'

/** What was read, by organization, operation and request. */
export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.code === 'unavailable',
    },
    mutations: { retry: false },
  },
})

export interface ReadOptions {
  enabled?: boolean
  /** Rows of another object are no placeholder. */
  fresh?: boolean
  /** Reads again after so many milliseconds, while the page is looked at. Each counts as use of the session: set an end. */
  every?: number | undefined
}

export type Read<M extends Method> = UseQueryResult<Response<M>>

/** Reads by an operation in the organization of the address. */
export function useRead<M extends Method>(method: M, request: Request<M>, options: ReadOptions = {}): Read<M> {
  const organization = useOrganization()
  const all = {
    ...readOf(organization, method, request),
    ...(options.enabled !== undefined && { enabled: options.enabled }),
    ...(options.every !== undefined && { refetchInterval: options.every }),
    // A list of before stays, dimmed, until the next one has come: not that of another organization.
    ...(!options.fresh && {
      placeholderData: (before: unknown, query?: { queryKey: readonly unknown[] }) =>
        query?.queryKey[0] === organization ? before : undefined,
    }),
  }
  return useQuery(all as unknown as UseQueryOptions<Response<M>>)
}

/** Reads ahead of the view that shows it. Drawing the frame takes a slow machine as long as the way to the server. */
export function readAhead<M extends Method>(organization: string, method: M, request: Request<M>): void {
  void cache.prefetchQuery(readOf(organization, method, request))
}

function readOf<M extends Method>(organization: string, method: M, request: Request<M>) {
  return {
    queryKey: [organization, method, request],
    queryFn: ({ signal }: { signal: AbortSignal }) => call(method, request, { organization, signal }),
  }
}

/** After a write everything that was read of the organization is read again where it is shown. */
export function readAgain(): Promise<void> {
  return cache.invalidateQueries()
}

/** Whether the caller has a permission in the organization, or in one project of it. Undefined while it is not known. */
export function useMay(permission: string, projectId = ''): boolean | undefined {
  return usePermissions(projectId)?.permissions.includes(permission)
}

/** Whether a role on the instance gives the caller a permission in every organization. Undefined while it is not known. */
export function useMayEverywhere(permission: string): boolean | undefined {
  return usePermissions()?.instancePermissions.includes(permission)
}

export const permissionsMethod = 'roster.grants.v1.UserGrantService/GetMyPermissions'

/** What the caller may do: in the organization, or a project of it, and by roles on the instance everywhere. */
export function usePermissions(projectId = ''): { permissions: string[]; instancePermissions: string[] } | undefined {
  const { data, error } = useRead(permissionsMethod, projectId ? { projectId } : {})
  // Who has no role in an organization is not even told so.
  if (error instanceof ApiError && error.code === 'permission_denied')
    return { permissions: [], instancePermissions: [] }
  return data && { permissions: data.permissions ?? [], instancePermissions: data.instancePermissions ?? [] }
}
