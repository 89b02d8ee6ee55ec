import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { GrantsOrganization } from '#gen/console/api'
import { write } from '../api/call.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { Confirm } from '../pieces/confirm.tsx'
import { say, sayProblem } from '../pieces/notices.tsx'
import { session } from '../api/session.ts'
import { words } from './words.ts'

const service = 'roster.grants.v1.OrganizationService'

/** What closes the organization, opens it again, and ends it. */
export function Dangers({ organization: shown }: { organization: GrantsOrganization }) {
  const [asked, setAsked] = useState<'deactivate' | 'remove'>()
  const organization = useOrganization()
  const [, navigate] = useLocation()
  const person = session.use()
  const mayWrite = useMay('org.write')
  const mayRemove = useMay('org.delete')
  if (!mayWrite && !mayRemove) return null
  const { name = '', state } = shown
  const isActive = state === 'ORGANIZATION_STATE_ACTIVE'
  const act = async (method: 'DeactivateOrganization' | 'ReactivateOrganization', done: string) => {
    await write(`${service}/${method}`, {}, { organization })
    await readAgain()
    say(done)
  }
  const remove = async () => {
    await write(`${service}/RemoveMyOrganization`, {}, { organization })
    say(words.removed(name))
    navigate(`/o/${encodeURIComponent(person?.organizationId ?? '')}`)
    void readAgain()
  }
  const close = () => setAsked(undefined)
  return (
    <div class="card">
      <div class="title">
        <h2>{words.dangers}</h2>
      </div>
      <div class="actions padded">
        {mayWrite && isActive && (
          <button class="danger" onClick={() => setAsked('deactivate')}>
            {words.deactivate}
          </button>
        )}
        {mayWrite && !isActive && (
          <button onClick={() => void act('ReactivateOrganization', words.reactivated(name)).catch(sayProblem)}>
            {words.reactivate}
          </button>
        )}
        {mayRemove && (
          <button class="danger" onClick={() => setAsked('remove')}>
            {words.remove}
          </button>
        )}
      </div>
      {asked === 'deactivate' && (
        <Confirm
          title={words.deactivateTitle(name)}
          action={words.deactivate}
          act={() => act('DeactivateOrganization', words.deactivated(name))}
          onClose={close}
        >
          {words.deactivateText}
        </Confirm>
      )}
      {asked === 'remove' && (
        <Confirm title={words.removeTitle(name)} action={words.remove} name={name} act={remove} onClose={close}>
          <p>{words.removeText}</p>
          <ul>
            {[words.goPeople, words.goProjects, words.goGrants, words.goRest].map((text) => (
              <li>{text}</li>
            ))}
          </ul>
        </Confirm>
      )}
    </div>
  )
}
