import { lazy, Suspense } from 'preact/compat'
import { useRead } from '../api/queries.ts'
import { Choice, Field } from '../form/field.tsx'
import type { Option } from '../form/picker.tsx'
import type { Form } from '../form/use-form.ts'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))
const method = 'roster.grants.v1.ProjectService/SearchProjects'
const most = 50

/** One of the projects, or the name of a new one. */
export function ProjectChoice<V extends { projectId: string; projectName: string } & Record<string, string>>({
  form,
}: {
  form: Form<V>
}) {
  const { data } = useRead(method, { sortingColumn: 'PROJECT_FIELD_NAME_CREATION_DATE', descending: true, limit: most })
  const { projectId, name } = form.values as { projectId: string; name?: string }
  const isListed = projectId === '' || data?.projects?.some(({ id }) => id === projectId)
  // An older one than those of the list, or one in which the caller has a role, and not in the organization.
  const request = { projectId }
  const other = useRead('roster.grants.v1.ProjectService/GetProject', request, {
    enabled: projectId !== '' && !isListed,
  })
  const named = [...(data?.projects ?? []), ...(isListed ? [] : [other.data?.project ?? { id: projectId }])]
  const options = Object.fromEntries(named.map(({ id = '', name = id }) => [id, name]))
  return (
    <>
      {data?.nextCursor && (
        <Suspense fallback={null}>
          <Picker label={words.findProject} useOptions={useProjects} onPick={({ id }) => form.set('projectId', id)} />
        </Suspense>
      )}
      <Choice
        form={form}
        name={'projectId'}
        label={words.project}
        hint={words.projectHint}
        options={{ '': words.newProject, ...options }}
      />
      {projectId === '' && (
        <Field form={form} name={'projectName'} label={words.projectName} placeholder={name ?? ''} optional />
      )}
    </>
  )
}

function useProjects(text: string): { options: Option[] | undefined; isFetching: boolean } {
  const name = text === '' ? {} : { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }
  const { data, isFetching } = useRead(method, { ...name, sortingColumn: 'PROJECT_FIELD_NAME_NAME', limit: 8 })
  return { options: data?.projects?.map(({ id = '', name = id }) => ({ id, label: name })), isFetching }
}
