import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { IdpIDP } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Confirm } from '../pieces/confirm.tsx'
import { Menu } from '../pieces/menu.tsx'
import { say, sayProblem } from '../pieces/notices.tsx'
import { useMayThere, usePaths, usePlace } from '../providers/place.ts'
import { common } from '../texts/common.ts'
import { words } from './words.ts'

/** What one can do with a provider as a whole. */
export function Actions({ provider: { id: idpId = '', name = '', state } }: { provider: IdpIDP }) {
  const [asked, setAsked] = useState<'deactivate' | 'remove'>()
  const place = usePlace()
  const path = usePaths()
  const organization = useOrganization()
  const [, navigate] = useLocation()
  const [mayWrite, mayRemove] = [useMayThere('write'), useMayThere('delete')]
  const isActive = state === 'IDP_STATE_ACTIVE'
  const act = async (method: typeof place.deactivate | typeof place.reactivate, done: string) => {
    await write(method, { idpId }, { organization })
    await readAgain()
    say(done)
  }
  const remove = async () => {
    await write(place.remove, { idpId }, { organization })
    say(words.removed(name))
    navigate(path(''))
    void readAgain()
  }
  const close = () => setAsked(undefined)
  if (!mayWrite && !mayRemove) return null
  return (
    <>
      {mayWrite && !isActive && (
        <button onClick={() => void act(place.reactivate, words.reactivated(name)).catch(sayProblem)}>
          {words.reactivate}
        </button>
      )}
      <Menu label={common.more}>
        {mayWrite && isActive && <button onClick={() => setAsked('deactivate')}>{words.deactivate}</button>}
        {mayRemove && (
          <button class="danger" onClick={() => setAsked('remove')}>
            {words.remove}
          </button>
        )}
      </Menu>
      {asked === 'deactivate' && (
        <Confirm
          title={words.deactivateTitle(name)}
          action={words.deactivate}
          act={() => act(place.deactivate, words.deactivated(name))}
          onClose={close}
        >
          {words.deactivateText}
        </Confirm>
      )}
      {asked === 'remove' && (
        <Confirm title={words.removeTitle(name)} action={common.remove} name={name} act={remove} onClose={close}>
          {words.removeText}
        </Confirm>
      )}
    </>
  )
}
