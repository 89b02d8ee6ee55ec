// What opens a link stands behind its #, where no server sees it. It lies in the page of the link.
;(() => {
  const enter = () => {
    const given = new URLSearchParams(location.hash.slice(1))
    if (!given.get('code')) return
    // It must stay neither in the address bar nor in the history.
    history.replaceState(null, '', location.pathname + location.search)
    const { elements } = document.getElementById('link-form')
    elements.user_id.value = given.get('userId') ?? ''
    elements.code_id.value = given.get('codeId') ?? ''
    elements.code.value = given.get('code')
  }
  // A second link in the same tab changes nothing but what stands behind the #.
  addEventListener('hashchange', enter)
  enter()
})()
