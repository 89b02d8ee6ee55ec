import { useEffect, useRef } from 'preact/hooks'
import { navigate } from 'wouter-preact/use-browser-location'
import { createStore } from '../api/store.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { texts } from '../texts/texts.ts'

const t = texts(
  { title: 'Leave without saving?', text: 'What you have changed here is lost.', leave: 'Leave', stay: 'Stay' },
  {
    title: 'Gehen, ohne zu speichern?',
    text: 'Was Sie hier geändert haben, geht verloren.',
    leave: 'Gehen',
    stay: 'Bleiben',
  },
)

interface NavigateEvent extends Event {
  destination: { url: string }
  hashChange: boolean
}

// Forms with changes. While there is one, another view asks first.
const dirty = new Set<object>()
const wanted = createStore<string | undefined>(undefined)

/** Warns of lost changes: at another view, and at another page. */
export function useUnsaved(isDirty: boolean) {
  const form = useRef({})
  const hold = () => void dirty.add(form.current)
  const release = () => void dirty.delete(form.current)
  useEffect(() => {
    if (isDirty) hold()
    else release()
    return release
  }, [isDirty])
  return { hold, release }
}

// Browsers that do not know it warn at the end of the page alone.
const navigation = (globalThis as { navigation?: EventTarget }).navigation
navigation?.addEventListener('navigate', (event) => {
  const { destination, hashChange, cancelable } = event as NavigateEvent
  const isHere = new URL(destination.url).pathname === location.pathname
  if (dirty.size === 0 || hashChange || isHere || !cancelable) return
  event.preventDefault()
  wanted.set(destination.url)
})

addEventListener('beforeunload', (event) => {
  if (dirty.size > 0) event.preventDefault()
})

/** Asks whether to leave. It is part of the shell. */
export function UnsavedQuestion() {
  const url = wanted.use()
  if (url === undefined) return null
  const leave = () => {
    dirty.clear()
    wanted.set(undefined)
    const { pathname, search } = new URL(url)
    navigate(pathname + search)
  }
  return (
    <Dialog title={t.title} onClose={() => wanted.set(undefined)}>
      <p>{t.text}</p>
      <div class="actions">
        <button onClick={() => wanted.set(undefined)}>{t.stay}</button>
        <button class="danger" onClick={leave}>
          {t.leave}
        </button>
      </div>
    </Dialog>
  )
}
