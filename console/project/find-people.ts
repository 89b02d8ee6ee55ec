import { useRead } from '../api/queries.ts'
import type { Option } from '../form/picker.tsx'
import { nameOf } from '../people/about-person.tsx'
import { peopleFound } from '../people/find-people.ts'

/** People of the organization, for a picker. */
export function usePeople(text: string): { options: Option[] | undefined; isFetching: boolean } {
  const { data, isFetching } = useRead(
    'roster.users.v1.UserService/SearchUsers',
    peopleFound(text, { limit: 8, sortingColumn: 'USER_FIELD_NAME_DISPLAY_NAME' }),
  )
  const options = data?.users?.map((user) => ({
    id: user.userId ?? '',
    label: nameOf(user),
    note: user.human?.email?.email ?? '',
  }))
  return { options, isFetching }
}
