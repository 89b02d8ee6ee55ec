import { useEffect } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter-preact'
import { session } from '../api/session.ts'

export const base = '/ui/console'

/** The organization of the address, `/o/{org}/…`; at home where it names none. */
export function useOrganization(): string {
  const [path] = useLocation()
  return organizationOf(path) ?? session.get()?.organizationId ?? ''
}

/** The organization that a path below the console names. */
export function organizationOf(path: string): string | undefined {
  const [, found] = /^\/o\/([^/]+)/.exec(path) ?? []
  return found && decodeURIComponent(found)
}

/** Makes paths of the organization's views. */
export function useHere(): (path: string) => string {
  const organization = useOrganization()
  return (path) => `/o/${encodeURIComponent(organization)}${path}`
}

/** Filters, sort and page of a list, as the address has them. What is empty is left out. */
export function useFilters(): [URLSearchParams, (changed: Record<string, string>) => void] {
  const [path, navigate] = useLocation()
  const filters = new URLSearchParams(useSearch())
  const set = (changed: Record<string, string>) => {
    const next = new URLSearchParams(filters)
    // Another filter begins at the first page.
    next.delete('after')
    for (const [name, value] of Object.entries(changed)) {
      next.delete(name)
      if (value !== '') next.set(name, value)
    }
    const text = next.toString()
    navigate(text ? `${path}?${text}` : path, { replace: !('after' in changed), state: { paged: 'after' in changed } })
  }
  return [filters, set]
}

/** The title of the page: that of the view, and of the product. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Roster' : `${title} · Roster`
  }, [title])
}
