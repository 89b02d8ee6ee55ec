import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { UsersIDPLink } from '#gen/console/api'
import { useHere, useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { List } from '../list/list.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'
import { words } from './words.ts'

/** The accounts elsewhere by which a person signs in. */
export function Links({ userId }: { userId: string }) {
  const [asked, setAsked] = useState<UsersIDPLink>()
  const organization = useOrganization()
  const here = useHere()
  const mayRemove = useMay('user.write')
  const mayName = useMay('org.idp.read')
  const query = useRead('roster.users.v1.UserService/ListIDPLinks', { userId })
  const known = useRead(
    'roster.idp.v1.OrganizationIdentityProviderService/SearchOrganizationIDPs',
    { limit: 1000 },
    { enabled: mayName === true },
  )
  const ownName = (id: string | undefined) => known.data?.idps?.find((one) => one.id === id)?.name
  // One of the instance is called as it calls itself.
  const nameOf = ({ idpId, issuer = '' }: UsersIDPLink) => ownName(idpId) ?? issuer
  const remove = async ({ idpId = '', userId: linkedUserId = '' }: UsersIDPLink) => {
    await write('roster.users.v1.UserService/RemoveIDPLink', { userId, idpId, linkedUserId }, { organization })
    await readAgain()
    say(words.disconnected)
  }
  const links = query.data && (query.data.links ?? [])
  if (links?.length === 0) return null
  return (
    <div class="card">
      <div class="title">
        <h2>{words.links}</h2>
      </div>
      <List<UsersIDPLink>
        label={words.links}
        permission="user.read"
        rows={links}
        keyOf={({ idpId, userId: subject }) => `${idpId} ${subject}`}
        query={query}
        empty={common.none}
        columns={[
          {
            label: words.provider,
            cell: (link) =>
              ownName(link.idpId) ? (
                <Link href={here(`/providers/${encodeURIComponent(link.idpId ?? '')}`)}>{nameOf(link)}</Link>
              ) : (
                nameOf(link)
              ),
          },
          { label: words.there, cell: ({ userName, userId: subject }) => userName || <code>{subject}</code> },
          { label: words.since, cell: ({ creationDate }) => <Time at={creationDate} />, wide: true },
          ...(mayRemove
            ? [
                {
                  label: common.actions,
                  cell: (link: UsersIDPLink) => (
                    <div class="acts">
                      <button
                        class="danger"
                        aria-label={`${words.disconnect}: ${nameOf(link)}`}
                        onClick={() => setAsked(link)}
                      >
                        {words.disconnect}
                      </button>
                    </div>
                  ),
                },
              ]
            : []),
        ]}
      />
      {asked && (
        <Confirm
          title={words.disconnectTitle(nameOf(asked))}
          action={words.disconnect}
          act={() => remove(asked)}
          onClose={() => setAsked(undefined)}
        >
          {words.disconnectText}
        </Confirm>
      )}
    </div>
  )
}
