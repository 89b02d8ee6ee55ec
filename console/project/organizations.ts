import { useQueries } from '@tanstack/preact-query'
import { useOrganization } from '../address/place.ts'
import { call } from '../api/call.ts'
import { useRead } from '../api/queries.ts'
import type { Option } from '../form/picker.tsx'

const method = 'roster.grants.v1.OrganizationService/SearchOrganizations'

/** Organizations by their names, for a picker. */
export function useFoundOrganizations(text: string): { options: Option[] | undefined; isFetching: boolean } {
  const name = text === '' ? {} : { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }
  const { data, isFetching } = useRead(method, { ...name, limit: 8 })
  const options = data?.organizations?.map(({ id = '', name = '', primaryDomain = '' }) => ({
    id,
    label: name,
    note: primaryDomain,
  }))
  return { options, isFetching }
}

/** Whether the caller may search all organizations. Others have to know the id. */
export function useMayFindOrganizations(): boolean {
  return useRead(method, { limit: 1 }).data !== undefined
}

/** The names of organizations. Who may not read one sees its id. */
export function useOrganizationNames(ids: string[]): (id: string) => string {
  const organization = useOrganization()
  const unique = [...new Set(ids)].sort()
  const found = useQueries({
    queries: unique.map((organizationId) => ({
      queryKey: [organization, 'roster.grants.v1.OrganizationService/GetOrganization', { organizationId }],
      queryFn: () => call('roster.grants.v1.OrganizationService/GetOrganization', { organizationId }, { organization }),
      retry: false,
    })),
  })
  const names = new Map(unique.map((id, index) => [id, found[index]?.data?.organization?.name]))
  return (id) => names.get(id) ?? id
}
