import { useRef, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { UsersDeleteUserResponse, UsersUser } from '#gen/console/api'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Confirm } from '../pieces/confirm.tsx'
import { CopyButton } from '../pieces/copy-button.tsx'
import { Dialog } from '../pieces/dialog.tsx'
import { Problem } from '../pieces/problem.tsx'
import { Time } from '../pieces/time.tsx'
import { nameOf } from '../people/about-person.tsx'
import { useHere, useOrganization } from '../address/place.ts'
import { words } from './words.ts'

/** Asks for the name, removes, and shows the receipt. */
export function RemovePerson({ user, onClose }: { user: UsersUser; onClose: () => void }) {
  const [removed, setRemoved] = useState<UsersDeleteUserResponse>()
  const organization = useOrganization()
  const { userId = '' } = user
  const name = nameOf(user)
  const isDone = useRef(false)
  const act = async () => {
    setRemoved(await write('roster.users.v1.UserService/DeleteUser', { userId }, { organization }))
    isDone.current = true
  }
  // After the removal the receipt takes the place of the question.
  const close = () => {
    if (!isDone.current) onClose()
  }
  if (removed) return <Receipt user={user} removed={removed} onClose={onClose} />
  return (
    <Confirm title={words.removeTitle(name)} action={words.remove} name={name} act={act} onClose={close}>
      {words.removeText}
    </Confirm>
  )
}

function Receipt({
  user,
  removed,
  onClose,
}: {
  user: UsersUser
  removed: UsersDeleteUserResponse
  onClose: () => void
}) {
  const organization = useOrganization()
  const here = useHere()
  const [, navigate] = useLocation()
  const [error, setError] = useState<Error>()
  const { receipt = '', forgetAt } = removed
  const { userId = '' } = user
  const leave = () => {
    navigate(here(user.machine ? '/machines' : '/people'))
    void readAgain()
  }
  const restore = async () => {
    await write('roster.users.v1.UserService/RestoreUser', { userId }, { organization })
    await readAgain()
    onClose()
  }
  return (
    <Dialog firm title={words.removedTitle} onClose={leave}>
      {receipt && (
        <>
          <p>{words.receiptText}</p>
          <pre class="receipt" tabIndex={0}>
            {receipt}
          </pre>
        </>
      )}
      {forgetAt && (
        <p>
          {words.restoreUntil} <Time at={forgetAt} />
        </p>
      )}
      {error && <Problem error={error} />}
      <div class="actions">
        {receipt && <CopyButton text={receipt} />}
        {forgetAt && <button onClick={() => void restore().catch(setError)}>{words.restore}</button>}
        <button class="primary" onClick={leave}>
          {user.machine ? words.toMachines : words.toPeople}
        </button>
      </div>
    </Dialog>
  )
}
