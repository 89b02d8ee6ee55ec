import { useRead } from '../api/queries.ts'
import type { Option } from '../form/picker.tsx'
import { nameOf } from '../people/about-person.tsx'
import { peopleFound } from '../people/find-people.ts'

interface Found {
  options: Option[] | undefined
  isFetching: boolean
}

/** People for a picker, by a part of their name, address or user name. */
export function useFoundPeople(text: string): Found {
  const { data, isFetching } = useRead('roster.users.v1.UserService/SearchUsers', peopleFound(text, { limit: 10 }))
  const options = data?.users?.map((user) => ({
    id: user.userId ?? '',
    label: nameOf(user),
    note: user.human?.email?.email ?? '',
  }))
  return { options, isFetching }
}

/** Applications for a picker, by a part of their name. */
export function useFoundApplications(text: string): Found {
  const { data, isFetching } = useRead('roster.grants.v1.ApplicationService/SearchApplications', {
    ...(text && { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } }),
    limit: 10,
  })
  const options = data?.applications?.map(({ appId = '', name = '' }) => ({ id: appId, label: name }))
  return { options, isFetching }
}
