import { useHere } from '../address/place.ts'
import { useMay, useRead } from '../api/queries.ts'
import type { Option } from '../form/picker.tsx'
import { nameOf } from '../people/about-person.tsx'
import { peopleFound } from '../people/find-people.ts'
import { useOrganizations } from './organization-switch.tsx'
import { words } from './words.ts'

const method = 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE'
const ofEach = 5

/** Objects of every kind that the caller may read, a few of each. The id of an option is the path of its view. */
export function useEverything(text: string): { options: Option[]; isFetching: boolean } {
  const here = useHere()
  const mayPeople = useMay('user.read') === true
  const isAsked = text !== ''
  const people = useRead(
    'roster.users.v1.UserService/SearchUsers',
    peopleFound(text, { limit: isAsked ? ofEach : 8, sortingColumn: 'USER_FIELD_NAME_DISPLAY_NAME' }),
    { enabled: mayPeople },
  )
  const machines = useRead(
    'roster.users.v1.UserService/SearchUsers',
    {
      queries: [{ typeQuery: { type: 'TYPE_MACHINE' } }, { userNameQuery: { userName: text, method } }],
      limit: ofEach,
    },
    { enabled: mayPeople && isAsked },
  )
  const mayProjects = useMay('project.read') === true
  const projects = useRead(
    'roster.grants.v1.ProjectService/SearchProjects',
    { name: { text, method }, limit: ofEach },
    { enabled: mayProjects && isAsked },
  )
  const mayApplications = useMay('project.app.read') === true
  const applications = useRead(
    'roster.grants.v1.ApplicationService/SearchApplications',
    { name: { text, method }, limit: ofEach },
    { enabled: mayApplications && isAsked },
  )
  const organizations = useOrganizations(text)
  const path = (kind: string, id = '') => here(`/${kind}/${encodeURIComponent(id)}`)
  const found: Option[] = (people.data?.users ?? []).map((user) => ({
    id: path('people', user.userId),
    label: nameOf(user),
    note: user.human?.email?.email ?? '',
  }))
  const further: Option[] = [
    ...(applications.data?.applications ?? []).map(({ id, name = '' }) => ({
      id: path('applications', id),
      label: name,
      note: words.application,
    })),
    ...(projects.data?.projects ?? []).map(({ id, name = '' }) => ({
      id: path('projects', id),
      label: name,
      note: words.project,
    })),
    ...(machines.data?.users ?? []).map((user) => ({
      id: path('machines', user.userId),
      label: nameOf(user),
      note: words.machine,
    })),
    ...(organizations.options ?? []).slice(0, ofEach).map(({ id, label }) => ({
      id: `/o/${encodeURIComponent(id)}`,
      label,
      note: words.organization,
    })),
  ]
  const isFetching = [people, machines, projects, applications, organizations].some(({ isFetching }) => isFetching)
  return { options: isAsked ? [...found, ...further] : found, isFetching }
}
