const mark = 'roster-console-reloaded'

/** Loads the page again where a file of it is gone, because a newer release runs: once, so that it cannot go on forever. */
export function reloadOnce(): void {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(mark))
    if (Date.now() - last < 60_000) return
    sessionStorage.setItem(mark, String(Date.now()))
    event.preventDefault()
    location.reload()
  })
}
