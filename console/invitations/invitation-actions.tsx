import { useState } from 'preact/hooks'
import type { UsersInvitation } from '#gen/console/api'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { Confirm } from '../pieces/confirm.tsx'
import { Menu } from '../pieces/menu.tsx'
import { say, sayProblem } from '../pieces/notices.tsx'
import { ShownOnce } from '../pieces/shown-once.tsx'
import { words } from './words.ts'

const service = 'roster.users.v1.InvitationService'

/** What one can do with an invitation that was not accepted. */
export function InvitationActions({ invitation }: { invitation: UsersInvitation }) {
  const organization = useOrganization()
  const [isAsked, setAsked] = useState(false)
  const [link, setLink] = useState<string>()
  const { invitationId = '', email = '', state } = invitation
  if (state === 'INVITATION_STATE_ACCEPTED') return null
  const resend = async () => {
    await write(`${service}/ResendInvitation`, { invitationId }, { organization })
    await readAgain()
    say(words.resent(email))
  }
  const getLink = async () => {
    const request = { invitationId, returnLink: {} }
    setLink((await write(`${service}/ResendInvitation`, request, { organization })).link ?? '')
    await readAgain()
  }
  const revoke = async () => {
    await write(`${service}/RevokeInvitation`, { invitationId }, { organization })
    await readAgain()
    say(words.isRevoked(email))
  }
  return (
    <span class="does">
      <Menu label={words.of(email)}>
        <button onClick={() => void resend().catch(sayProblem)}>{words.resend}</button>
        <button onClick={() => void getLink().catch(sayProblem)}>{words.newLink}</button>
        {state === 'INVITATION_STATE_PENDING' && (
          <button class="danger" onClick={() => setAsked(true)}>
            {words.revoke}
          </button>
        )}
      </Menu>
      {isAsked && (
        <Confirm title={words.revokeTitle(email)} action={words.revoke} act={revoke} onClose={() => setAsked(false)}>
          {words.revokeText}
        </Confirm>
      )}
      {link !== undefined && (
        <ShownOnce
          title={words.linkTitle(email)}
          secrets={[{ label: words.link, text: link }]}
          onClose={() => setLink(undefined)}
        />
      )}
    </span>
  )
}
