import { useState } from 'preact/hooks'
import type { IdpIDP } from '#gen/console/api'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { Problem } from '../pieces/problem.tsx'
import { OnPage } from '../providers/about-provider.tsx'
import { clientIdOf, idToCome, kindOf, signsIn } from '../providers/kinds.ts'
import { useMayThere, usePlace } from '../providers/place.ts'
import { useList, useListed } from '../providers/use-listed.ts'
import { words } from './words.ts'

/** Whether the sign-in page has the button of a provider, and what puts it there or takes it away. */
export function OnSignInPage({ provider }: { provider: IdpIDP }) {
  const { id = '', name = '', state } = provider
  const { isOfInstance } = usePlace()
  const listed = useListed()
  const list = useList()
  const mayWrite = useMayThere('writePolicy')
  const [isAsked, setAsked] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  if (!listed || !signsIn(kindOf(provider))) return null
  const isShown = listed.shown.includes(id)
  const isListed = listed.listed.includes(id)
  const isReady = clientIdOf(provider) !== idToCome
  const add = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const isSeen = await list(id, true, state === 'IDP_STATE_ACTIVE')
      say(isSeen ? words.shownNow(name) : words.listedNow(name))
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  const takeAway = async () => {
    await list(id, false)
    say(words.hiddenNow(name))
  }
  return (
    <div class="card">
      <div class="title">
        <h2>{words.page}</h2>
        <OnPage id={id} listed={listed} />
      </div>
      <div class="text">
        <p>{isShown ? words.pageShown : isListed ? words.pageListed : words.pageNot}</p>
        {!isListed && !isOfInstance && listed.isInherited && listed.shown.length > 0 && (
          <p class="soft">{words.pageInherited}</p>
        )}
        {mayWrite && !isListed && !isReady && <p class="soft">{words.pageWaits}</p>}
        {mayWrite && (
          <div class="actions">
            {isListed ? (
              <button class="danger" onClick={() => setAsked(true)}>
                {words.hide}
              </button>
            ) : (
              <button class="primary" disabled={isBusy || !isReady} onClick={() => void add()}>
                {words.show}
              </button>
            )}
          </div>
        )}
      </div>
      {error && <Problem error={error} />}
      {isAsked && (
        <Confirm title={words.hideTitle(name)} action={words.hide} act={takeAway} onClose={() => setAsked(false)}>
          {words.hideText}
        </Confirm>
      )}
    </div>
  )
}
