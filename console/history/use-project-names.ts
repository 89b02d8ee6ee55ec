import { useQueries } from '@tanstack/preact-query'
import { call } from '../api/call.ts'
import { useOrganization } from '../address/place.ts'

/** The names of projects. A grant has the id of its project alone; who may not read the project sees the id. */
export function useProjectNames(ids: string[]) {
  const organization = useOrganization()
  const unique = [...new Set(ids)].sort()
  const found = useQueries({
    queries: unique.map((projectId) => ({
      queryKey: [organization, 'roster.grants.v1.ProjectService/GetProject', { projectId }],
      queryFn: () => call('roster.grants.v1.ProjectService/GetProject', { projectId }, { organization }),
    })),
  })
  const names = new Map(unique.map((id, index) => [id, found[index]?.data?.project?.name]))
  return (id: string) => names.get(id) ?? id
}
