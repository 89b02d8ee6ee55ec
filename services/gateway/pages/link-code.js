// The code of a link stands behind its #, where no server sees it. It lies in the page of the link.
;(() => {
  const enter = () => {
    const code = new URLSearchParams(location.hash.slice(1)).get('code')
    if (!code) return
    // It must stay neither in the address bar nor in the history.
    history.replaceState(null, '', location.pathname + location.search)
    document.getElementById('code').value = code
    document.getElementById('code-field').hidden = true
    document.getElementById('open').focus()
  }
  // A second link in the same tab changes nothing but what stands behind the #.
  addEventListener('hashchange', enter)
  enter()
})()
