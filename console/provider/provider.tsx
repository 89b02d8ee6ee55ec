import { Link } from 'wouter-preact'
import type { IdpIDP } from '#gen/console/api'
import { decode, useTitle, type ViewProps } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { Forbidden, isForbidden, Problem } from '../pieces/problem.tsx'
import { Tabs } from '../pieces/tabs.tsx'
import { ProviderState } from '../providers/about-provider.tsx'
import { kindNames, kindOf } from '../providers/kinds.ts'
import { usePaths, usePlace } from '../providers/place.ts'
import { words as common } from '../providers/words.ts'
import { Actions } from './actions.tsx'
import { Facts } from './facts.tsx'
import { ProviderHistory } from './history.tsx'
import { People } from './people.tsx'
import { roleWords } from './role-words.ts'
import { Roles } from './roles.tsx'
import { Settings } from './settings.tsx'
import { SetUp } from './set-up.tsx'
import { steps } from './set-up-words.ts'
import { words } from './words.ts'

/** One identity provider. */
export default function Provider({ params: { id = '', tab = '' } }: ViewProps) {
  const idpId = decode(id)
  const place = usePlace()
  const path = usePaths()
  const query = useRead(place.get, { idpId }, { fresh: true })
  const provider = query.data?.idp
  useTitle(provider?.name ?? '')
  if (isForbidden(query.error)) return <Forbidden permission={place.permissions.read} />
  if (query.error && !provider) return <Problem error={query.error} retry={() => void query.refetch()} />
  if (!provider) return <div class="head ghost" aria-hidden="true" />
  const kind = kindOf(provider)
  const isSpoken = kind in steps
  const tabs = {
    '': isSpoken ? words.setUp : words.facts,
    settings: words.settings,
    ...(isSpoken && !place.isOfInstance && { roles: roleWords.roles, people: words.people }),
    history: words.history,
  }
  return (
    <>
      <div class="head">
        <div>
          <small>
            <Link href={path('')}>{common.providers}</Link>
          </small>
          <h1>{provider.name}</h1>
        </div>
        {kindNames[kind] !== provider.name && <span class="tag">{kindNames[kind]}</span>}
        <ProviderState provider={provider} />
        <span class="grow" />
        <Actions provider={provider} />
      </div>
      <Tabs label={words.tabs} path={path(`/${id}`)} tabs={tabs} tab={tab} />
      <Tab key={`${idpId} ${tab}`} provider={provider} tab={tab} />
    </>
  )
}

function Tab({ provider, tab }: { provider: IdpIDP; tab: string }) {
  if (tab === 'settings') return <Settings provider={provider} />
  if (tab === 'roles') return <Roles provider={provider} />
  if (tab === 'people') return <People provider={provider} />
  if (tab === 'history') return <ProviderHistory provider={provider} />
  if (!(kindOf(provider) in steps)) return <Facts provider={provider} />
  return <SetUp provider={provider} />
}
