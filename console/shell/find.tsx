import { lazy, Suspense } from 'preact/compat'
import { useLocation } from 'wouter-preact'
import { useRead } from '../api/queries.ts'
import type { Option } from '../form/picker.tsx'
import { peopleFound } from '../people/find-people.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { useHere } from '../address/place.ts'
import { useOrganizations } from './organization-switch.tsx'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))

/** Finds an object of any kind, and goes there. The id of an option is the path of its view. */
export function FindDialog({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const go = ({ id }: Option) => {
    onClose()
    navigate(id)
  }
  return (
    <Dialog unseen title={words.findTitle} onClose={onClose}>
      <Suspense fallback={null}>
        <Picker autofocus label={words.findTitle} placeholder={words.find} useOptions={useEverything} onPick={go} />
      </Suspense>
    </Dialog>
  )
}

function useEverything(text: string) {
  const here = useHere()
  const people = useRead(
    'roster.users.v1.UserService/SearchUsers',
    peopleFound(text, { limit: 8, sortingColumn: 'USER_FIELD_NAME_DISPLAY_NAME' }),
  )
  const organizations = useOrganizations(text)
  const options: Option[] = [
    ...(people.data?.users ?? []).map((user) => ({
      id: here(`/people/${encodeURIComponent(user.userId ?? '')}`),
      label: user.human?.profile?.displayName ?? user.userName ?? '',
      note: user.human?.email?.email ?? '',
    })),
    ...(text === '' ? [] : (organizations.options ?? [])).map(({ id, label }) => ({
      id: `/o/${encodeURIComponent(id)}`,
      label,
      note: words.organization,
    })),
  ]
  return { options, isFetching: people.isFetching || organizations.isFetching }
}
