import { useRead } from '../api/queries.ts'
import { useHere, useTitle, type ViewProps } from '../address/place.ts'
import { Members } from '../members/members.tsx'
import { ofOrganization } from '../members/place.ts'
import { Problem } from '../pieces/problem.tsx'
import { Tabs } from '../pieces/tabs.tsx'
import { Dangers } from './dangers.tsx'
import { Settings } from './settings.tsx'
import { StateTag } from './state-tag.tsx'
import { words } from './words.ts'

/** The organization of the address. */
export default function Organization({ params: { tab = '' } }: ViewProps) {
  const here = useHere()
  const query = useRead('roster.grants.v1.OrganizationService/GetMyOrganization', {}, { fresh: true })
  const organization = query.data?.organization
  useTitle(organization?.name ?? '')
  if (query.error && !organization) return <Problem error={query.error} retry={() => void query.refetch()} />
  if (!organization) return <div class="head ghost" aria-hidden="true" />
  return (
    <>
      <div class="head">
        <div>
          <h1>{organization.name}</h1>
          <small>
            {organization.primaryDomain} · <StateTag organization={organization} />
          </small>
        </div>
      </div>
      <Tabs
        label={words.tabs}
        path={here('/organization')}
        tabs={{ '': words.settings, members: words.members }}
        tab={tab}
      />
      {tab === 'members' ? (
        <Members place={ofOrganization} />
      ) : (
        <div class="stack">
          <Settings organization={organization} />
          <Dangers organization={organization} />
        </div>
      )}
    </>
  )
}
