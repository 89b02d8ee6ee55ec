import { lazy, Suspense } from 'preact/compat'
import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { useMayEverywhere, useRead } from '../api/queries.ts'
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
  const mayAdd = useMayEverywhere('org.create')
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
          {mayAdd && (
            <div class="actions">
              <Link class="button" href="/instance/organizations/new" onClick={() => setOpen(false)}>
                {words.newOrganization}
              </Link>
            </div>
          )}
        </Dialog>
      )}
    </>
  )
}

/** Organizations by their names: those in which the caller has a role, or all that there are for who may search them. */
export function useOrganizations(text: string): { options: Option[] | undefined; isFetching: boolean } {
  const mayAll = useMayEverywhere('org.read')
  const name = text === '' ? {} : { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }
  const request = { ...name, limit: 10 }
  const service = 'roster.grants.v1.OrganizationService'
  const all = useRead(`${service}/SearchOrganizations`, request, { enabled: mayAll === true })
  const mine = useRead(`${service}/SearchMyOrganizations`, request, { enabled: mayAll === false })
  const options = mayAll
    ? all.data?.organizations?.map(({ id = '', ...shown }) => optionOf({ id, ...shown }))
    : mine.data?.organizations?.map(({ organizationId: id = '', ...shown }) => optionOf({ id, ...shown }))
  return { options, isFetching: all.isFetching || mine.isFetching }
}

function optionOf({ id, name = '', primaryDomain = '', state }: Shown): Option {
  const note = state === 'ORGANIZATION_STATE_INACTIVE' ? `${primaryDomain} · ${words.inactive}` : primaryDomain
  return { id, label: name, note }
}

interface Shown {
  id: string
  name?: string
  primaryDomain?: string
  state?: string
}
