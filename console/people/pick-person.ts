import { useMayEverywhere, useRead } from '../api/queries.ts'
import type { Option } from '../form/picker.tsx'
import { nameOf } from './about-person.tsx'
import { peopleFound } from './find-people.ts'

/** People for a picker, by a part of their name, address or user name. */
export function usePeople(text: string): { options: Option[] | undefined; isFetching: boolean } {
  return useFound(text, false)
}

/** As `usePeople`, in every organization where the caller may read all of them. */
export function usePeopleEverywhere(text: string): { options: Option[] | undefined; isFetching: boolean } {
  return useFound(text, useMayEverywhere('user.read') === true)
}

function useFound(text: string, allOrganizations: boolean) {
  const { data, isFetching } = useRead(
    'roster.users.v1.UserService/SearchUsers',
    peopleFound(text, {
      limit: 10,
      sortingColumn: 'USER_FIELD_NAME_DISPLAY_NAME',
      ...(allOrganizations && { allOrganizations }),
    }),
  )
  const options = data?.users?.map((user) => ({
    id: user.userId ?? '',
    label: nameOf(user),
    note: user.human?.email?.email ?? '',
  }))
  return { options, isFetching }
}
