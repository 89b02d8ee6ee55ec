import { lazy, Suspense } from 'preact/compat'
import { useId, useState } from 'preact/hooks'
import type { GrantsGrantedProject } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { ApiError } from '../api/errors.ts'
import { readAgain } from '../api/queries.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { Problem } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { accessWords as t } from './access-words.ts'
import { useFoundOrganizations, useMayFindOrganizations } from './organizations.ts'
import { RoleChecks } from './role-checks.tsx'

const Picker = lazy(() => import('../form/picker.tsx'))

interface Props {
  projectId: string
  /** Empty: a new one. */
  grant: GrantsGrantedProject
  onClose: () => void
}

/** Lets an organization give some roles of the project, or other ones than now. */
export function GrantForm({ projectId, grant, onClose }: Props) {
  const id = useId()
  const organization = useOrganization()
  const mayFind = useMayFindOrganizations()
  const { grantId = '', details } = grant
  const [grantedOrgId, setOrganization] = useState(grant.grantedOrgId ?? '')
  const [roleKeys, setRoles] = useState(grant.grantedRoleKeys ?? [])
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const isNew = grantId === ''
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || grantedOrgId === '') return
    setBusy(true)
    setError(undefined)
    const service = 'roster.grants.v1.ProjectService'
    try {
      if (isNew) await write(`${service}/AddProjectGrant`, { projectId, grantedOrgId, roleKeys }, { organization })
      else {
        const options = { organization, sequence: details?.sequence }
        await write(`${service}/UpdateProjectGrant`, { projectId, grantId, roleKeys }, options)
      }
      say(isNew ? t.granted : t.grantChanged)
      void readAgain()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  const [fault] = error instanceof ApiError ? error.violations : []
  return (
    <Dialog title={isNew ? t.addGrant : common.change} onClose={onClose}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        {isNew && <p>{t.grantText}</p>}
        {isNew && mayFind && (
          <Suspense fallback={null}>
            <Picker
              autofocus
              label={t.findOrganization}
              useOptions={useFoundOrganizations}
              onPick={(option) => setOrganization(option.id)}
            />
          </Suspense>
        )}
        {isNew && (
          <div class="field">
            <label for={id}>{t.organizationId}</label>
            <input
              id={id}
              maxLength={200}
              autocomplete="off"
              spellcheck={false}
              value={grantedOrgId}
              onInput={(event) => setOrganization(event.currentTarget.value.trim())}
            />
            <small>{t.organizationHint}</small>
          </div>
        )}
        <RoleChecks projectId={projectId} chosen={roleKeys} onChange={setRoles} />
        {fault && (
          <span class="fault" role="alert">
            {fault.field} {fault.description}.
          </span>
        )}
        {error && !fault && <Problem error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button class="primary" disabled={isBusy || grantedOrgId === ''}>
            {isNew ? t.addGrant : common.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
