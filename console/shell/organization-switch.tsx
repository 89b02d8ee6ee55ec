import { lazy, Suspense } from 'preact/compat'
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { useRead } from '../api/queries.ts'
import type { Option } from '../form/picker.tsx'
import { Dialog } from '../pieces/dialog.tsx'
import { useOrganization } from '../address/place.ts'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))

/** The organization of the address, and the way to another one. */
export function OrganizationSwitch() {
  const [isOpen, setOpen] = useState(false)
  const [, navigate] = useLocation()
  const id = useOrganization()
  const { data } = useRead('roster.grants.v1.OrganizationService/GetMyOrganization', {})
  const name = data?.organization?.name ?? id
  const go = (option: Option) => {
    setOpen(false)
    navigate(`/o/${encodeURIComponent(option.id)}`)
  }
  return (
    <>
      <button class="organization" aria-label={`${words.organization}: ${name}`} onClick={() => setOpen(true)}>
        {name} <small aria-hidden="true">▾</small>
      </button>
      {isOpen && (
        <Dialog title={words.switchTo} onClose={() => setOpen(false)}>
          <Suspense fallback={null}>
            <Picker autofocus label={words.organization} useOptions={useOrganizations} onPick={go} />
          </Suspense>
        </Dialog>
      )}
    </>
  )
}

/** Organizations by their names. Who may not search all of them finds none. */
export function useOrganizations(text: string): { options: Option[] | undefined; isFetching: boolean } {
  const name = text === '' ? {} : { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }
  const { data, isFetching } = useRead('roster.grants.v1.OrganizationService/SearchOrganizations', {
    ...name,
    limit: 10,
  })
  const options = data?.organizations?.map(({ id = '', name = '', primaryDomain = '' }) => ({
    id,
    label: name,
    note: primaryDomain,
  }))
  return { options, isFetching }
}
