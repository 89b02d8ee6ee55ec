import { Suspense } from 'preact/compat'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { useMay } from '../api/queries.ts'
import { Forbidden } from '../pieces/problem.tsx'
import type { ViewProps } from '../address/place.ts'
import type { View } from './views.ts'

/** Shows a view, once its file is there; or which permission it needs. */
export function ViewOf({ view, params }: ViewProps & { view: View }) {
  const may = useMay(view.permission)
  useFocusOnHeading()
  if (may === false) return <Forbidden permission={view.permission} />
  const Component = view.component
  return (
    <Suspense fallback={null}>
      <Component params={params} />
    </Suspense>
  )
}

let shown: string | undefined

// A reader of the screen hears where they are. The first page has its own beginning, and a tab is a part of its page.
function useFocusOnHeading() {
  const [path] = useLocation()
  useEffect(() => {
    const page = path.split('/').slice(0, 5).join('/')
    const isAnother = shown !== undefined && shown !== page
    shown = page
    if (!isAnother) return
    scrollTo(0, 0)
    return onceThere('#main h1', (heading) => {
      if (document.querySelector('dialog[open]')) return
      heading.tabIndex = -1
      heading.focus({ preventScroll: true })
    })
  }, [path])
}

// The view comes once its file and what it reads are there.
function onceThere(selector: string, act: (element: HTMLElement) => void) {
  const look = () => {
    const found = document.querySelector<HTMLElement>(selector)
    if (!found) return
    observer.disconnect()
    act(found)
  }
  const observer = new MutationObserver(look)
  observer.observe(document.body, { childList: true, subtree: true })
  look()
  return () => observer.disconnect()
}
