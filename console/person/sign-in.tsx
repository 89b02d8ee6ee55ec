import type { NotifierMail, UsersFactorOfUser, UsersSignInRecord, UsersUser } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { List } from '../list/list.tsx'
import { Time } from '../pieces/time.tsx'
import { factorNames } from '../people/words.ts'
import { Invited } from '../invitations/invited.tsx'
import { MailState } from '../mails/mail-state.tsx'
import { mailKinds } from '../mails/words.ts'
import { Links } from './links.tsx'
import { Sessions, whereOf } from './sessions.tsx'
import { sayFactors } from '../sign-ins/say-sign-in.ts'
import { signInOf } from './sign-in-of.ts'
import { words } from './words.ts'

/** What the person signs in with, where they are signed in, and the mails that they got. */
export function SignIn({ user }: { user: UsersUser }) {
  const { userId = '' } = user
  const found = useRead('roster.users.v1.UserService/SearchUsers', signInOf(userId))
  const signIns = useRead('roster.users.v1.SessionService/SearchUserSignIns', { userId, limit: 10 })
  const mails = useRead('roster.notifier.v1.MailService/SearchMails', { userId, limit: 10 })
  return (
    <div class="stack">
      <div class="card">
        <div class="title">
          <h2>{words.factors}</h2>
        </div>
        <List<UsersFactorOfUser>
          label={words.factors}
          permission="user.read"
          rows={found.data && (found.data.users?.[0]?.factors ?? [])}
          keyOf={({ type, passkeyId }) => `${type} ${passkeyId}`}
          query={found}
          empty={words.noFactors}
          columns={[
            {
              label: words.factors,
              cell: ({ type = 'FACTOR_TYPE_UNSPECIFIED' }) => (
                <>
                  {factorNames[type] ?? type}
                  {type === 'FACTOR_TYPE_PASSWORD' && user.human?.passwordChangeRequired && <> ({words.mustChange})</>}
                </>
              ),
            },
            { label: words.added, cell: ({ creationDate }) => <Time at={creationDate} never="" /> },
            {
              label: words.lastUse,
              cell: ({ lastUseDate, type }) => (
                <Time at={lastUseDate} {...(type === 'FACTOR_TYPE_PASSWORD' && { never: '' })} />
              ),
            },
          ]}
        />
      </div>
      <Links userId={userId} />
      <Sessions userId={userId} />
      <div class="card">
        <div class="title">
          <h2>{words.signIns}</h2>
        </div>
        <List<UsersSignInRecord>
          label={words.signIns}
          permission="user.read"
          rows={signIns.data && (signIns.data.signIns ?? [])}
          keyOf={({ id = '' }) => id}
          query={signIns}
          empty={words.noSignIns}
          columns={[
            { label: words.when, cell: ({ signInDate }) => <Time at={signInDate} /> },
            { label: words.to, cell: ({ applicationName }) => applicationName ?? '' },
            { label: words.with, cell: ({ factors, idpName }) => sayFactors(factors, idpName), wide: true },
            { label: words.from, cell: ({ client }) => whereOf(client), wide: true },
          ]}
        />
      </div>
      <Invited userId={userId} />
      <div class="card">
        <div class="title">
          <h2>{words.mails}</h2>
        </div>
        <List<NotifierMail>
          label={words.mails}
          permission="user.read"
          rows={mails.data && (mails.data.mails ?? [])}
          keyOf={({ mailId = '' }) => mailId}
          query={mails}
          empty={words.noMails}
          columns={[
            { label: words.mail, cell: ({ kind = '' }) => mailKinds[kind] ?? kind },
            {
              label: words.result,
              cell: (mail) => <MailState mail={mail} />,
            },
            { label: words.when, cell: ({ creationDate }) => <Time at={creationDate} />, wide: true },
          ]}
        />
      </div>
    </div>
  )
}
