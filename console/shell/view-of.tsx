import { Suspense } from 'preact/compat'
import { useEffect } from 'preact/hooks'
import { useMay, useMayEverywhere } from '../api/queries.ts'
import { Forbidden } from '../pieces/problem.tsx'
import { decode, type ViewProps } from '../address/place.ts'
import { isOfInstance, type View } from './views.ts'

/** Shows a view, once its file is there; or which permission it needs. */
export function ViewOf({ view, params }: ViewProps & { view: View }) {
  // A role in one project opens the views of that project.
  const mayHere = useMay(view.permission, decode(params['project'] ?? ''))
  const mayEverywhere = useMayEverywhere(view.permission)
  const may = view.permission === '' || view.menu?.orOwnProjects || (isOfInstance(view) ? mayEverywhere : mayHere)
  useFocusOnHeading(pageOf(view, params))
  if (may === false) return <Forbidden permission={view.permission} />
  const Component = view.component
  return (
    <Suspense fallback={null}>
      <Component params={params} />
    </Suspense>
  )
}

// A tab is a part of its page.
function pageOf(view: View, params: ViewProps['params']): string {
  const named = Object.entries(params).filter(([name]) => name !== 'tab' && !/^\d+$/.test(name))
  return JSON.stringify([view.path, named])
}

let shown: string | undefined

// A reader of the screen hears where they are. The first page has its own beginning.
function useFocusOnHeading(page: string) {
  useEffect(() => {
    const isAnother = shown !== undefined && shown !== page
    shown = page
    if (!isAnother) return
    scrollTo(0, 0)
    return onceThere('#main h1', (heading) => {
      if (document.querySelector('dialog[open]')) return
      heading.tabIndex = -1
      heading.focus({ preventScroll: true })
    })
  }, [page])
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
