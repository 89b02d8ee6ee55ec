import { useState } from 'preact/hooks'
import type { GrantsUserGrant } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { ApiError } from '../api/errors.ts'
import { readAgain } from '../api/queries.ts'
import { say, sayProblem } from '../pieces/notices.tsx'
import { accessWords as t } from './access-words.ts'

interface MatrixProps {
  projectId: string
  /** A grant for each person; of a guest the id of the user alone. */
  rows: GrantsUserGrant[]
  keys: string[]
  nameOf: (userId: string) => string
  mayWrite: boolean
  isOld: boolean
  /** The person's last role was taken: the row stays, so that it can be given back. */
  onGone: (userId: string) => void
}

const service = 'roster.grants.v1.UserGrantService'

/** People by roles: a tick gives a role, and takes it. */
export function Matrix({ projectId, rows, keys, nameOf, mayWrite, isOld, onGone }: MatrixProps) {
  const organization = useOrganization()
  const [busy, setBusy] = useState('')

  async function toggle(row: GrantsUserGrant, key: string) {
    const { id: grantId = '', userId = '', roleKeys = [], details } = row
    const isGiven = !roleKeys.includes(key)
    const next = isGiven ? [...roleKeys, key] : roleKeys.filter((other) => other !== key)
    // What was read may be old: a role that somebody else gave meanwhile is not taken by this.
    const options = { organization, sequence: details?.sequence }
    if (grantId === '') await write(`${service}/AddUserGrant`, { userId, projectId, roleKeys: next }, { organization })
    else if (next.length > 0) await write(`${service}/UpdateUserGrant`, { userId, grantId, roleKeys: next }, options)
    else {
      await write(`${service}/RemoveUserGrant`, { userId, grantId }, options)
      onGone(userId)
    }
    await readAgain()
    say(isGiven ? t.given(nameOf(userId), key) : t.taken(nameOf(userId), key))
  }

  async function onTick(row: GrantsUserGrant, key: string) {
    setBusy(`${row.userId} ${key}`)
    try {
      await toggle(row, key)
    } catch (cause) {
      await readAgain()
      const isOutdated = cause instanceof ApiError && ['SEQUENCE_MISMATCH', 'USER_GRANT_EXISTS'].includes(cause.reason)
      sayProblem(isOutdated ? new Error(t.changed) : (cause as Error))
    } finally {
      setBusy('')
    }
  }

  return (
    <div class="matrix">
      <table data-old={isOld}>
        <thead>
          <tr>
            <th scope="col">{t.person}</th>
            {keys.map((key) => (
              <th key={key} scope="col">
                <code>{key}</code>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const { userId = '', roleKeys = [], state } = row
            return (
              <tr key={userId}>
                <th scope="row">
                  {nameOf(userId)}{' '}
                  {state === 'USER_GRANT_STATE_INACTIVE' && <span class="tag warn">{t.suspended}</span>}
                </th>
                {keys.map((key) => (
                  <td key={key}>
                    <input
                      type="checkbox"
                      aria-label={t.has(nameOf(userId), key)}
                      // What was ticked shows at once.
                      checked={roleKeys.includes(key) !== (busy === `${userId} ${key}`)}
                      disabled={!mayWrite || busy !== ''}
                      onChange={() => void onTick(row, key)}
                    />
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
