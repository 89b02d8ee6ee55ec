import { useState } from 'preact/hooks'
import type { GrantsMember } from '#gen/console/api'
import { write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { useFilters, useHere, useOrganization } from '../address/place.ts'
import { useNames } from '../history/use-names.ts'
import { FilterChoice } from '../list/filter-text.tsx'
import { List } from '../list/list.tsx'
import { Avatar } from '../pieces/avatar.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'
import { sayRole } from '../texts/roles.ts'
import { MemberForm } from './member-form.tsx'
import type { Place } from './place.ts'
import { words } from './words.ts'

/** Who has roles of Roster at a place, and what gives, changes and takes them. */
export function Members({ place }: { place: Place }) {
  const organization = useOrganization()
  const here = useHere()
  const [filters, setFilters] = useFilters()
  const [asked, setAsked] = useState<{ what: 'add' | 'change' | 'remove'; member: GrantsMember }>()
  const mayWrite = useMay(place.write)
  const mayRemove = useMay(place.delete)
  const [role, after] = [filters.get('role') ?? '', filters.get('after') ?? '']
  const request = { ...(role in place.roles && { role }), limit: 50, cursor: after }
  const query = useRead(place.search, request)
  const members = query.data && (query.data.members ?? [])
  const nameOf = useNames((members ?? []).map(({ userId }) => userId))
  const close = () => setAsked(undefined)
  const remove = async (userId: string) => {
    await write(place.remove, { userId }, { organization })
    await readAgain()
    say(words.removed(nameOf(userId)))
  }
  const { userId: askedId = '' } = asked?.member ?? {}
  return (
    <div class="card">
      <div class="filters">
        <FilterChoice
          label={words.roles}
          value={role}
          options={{ '': words.anyRole, ...place.roles }}
          onChange={(role) => setFilters({ role })}
        />
        <span class="grow" />
        {mayWrite && (
          <button class="primary" data-key="n" onClick={() => setAsked({ what: 'add', member: {} })}>
            {words.add}
          </button>
        )}
      </div>
      <List<GrantsMember>
        label={words.members}
        permission={place.read}
        rows={members}
        keyOf={({ userId = '' }) => userId}
        hrefOf={({ userId = '' }) => here(`/people/${encodeURIComponent(userId)}`)}
        query={query}
        empty={words.nobody}
        clear={role === '' ? undefined : () => setFilters({ role: '' })}
        pages={{ next: query.data?.nextCursor ?? '', after, go: (after) => setFilters({ after }) }}
        columns={[
          {
            label: words.person,
            cell: ({ userId = '', roles = [] }) => (
              <span class="who">
                <Avatar name={nameOf(userId)} />
                <span>
                  {nameOf(userId)}
                  <small class="below">{roles.map(sayRole).join(', ')}</small>
                </span>
              </span>
            ),
          },
          { label: words.roles, cell: ({ roles }) => <RoleTags roles={roles} />, wide: true },
          { label: words.since, cell: ({ details }) => <Time at={details?.creationDate} />, wide: true },
          {
            label: common.actions,
            cell: (member) => (
              <span class="does">
                {mayWrite && (
                  <button
                    aria-label={words.changeOf(nameOf(member.userId ?? ''))}
                    onClick={() => setAsked({ what: 'change', member })}
                  >
                    {common.change}
                  </button>
                )}
                {mayRemove && (
                  <button
                    class="danger"
                    aria-label={words.takeOf(nameOf(member.userId ?? ''))}
                    onClick={() => setAsked({ what: 'remove', member })}
                  >
                    {common.remove}
                  </button>
                )}
              </span>
            ),
          },
        ]}
      />
      {asked && asked.what !== 'remove' && (
        <MemberForm place={place} member={asked.member} nameOf={nameOf} onClose={close} />
      )}
      {asked?.what === 'remove' && (
        <Confirm
          title={words.removeTitle(nameOf(askedId))}
          action={words.take}
          act={() => remove(askedId)}
          onClose={close}
        >
          {words.removeText}
        </Confirm>
      )}
    </div>
  )
}

export function RoleTags({ roles = [] }: { roles: string[] | undefined }) {
  return (
    <>
      {roles.map((role) => (
        <>
          <span class="tag" title={role}>
            {sayRole(role)}
          </span>{' '}
        </>
      ))}
    </>
  )
}
