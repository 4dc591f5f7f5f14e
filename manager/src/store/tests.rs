//! Pages of records.

use super::*;

#[tokio::test]
async fn pages_meet_every_record_once() {
    let store = Store::open(Arc::new(kv::MemoryKv::default()))
        .await
        .unwrap();
    let mut changes = Changes::default();
    for n in 0..10u8 {
        changes.put(vec![b'x', 0, n], &n).unwrap();
    }
    store.commit(changes).await.unwrap();
    let mut query = PageQuery {
        limit: Some(3),
        page_token: None,
    };
    let mut met: Vec<u8> = Vec::new();
    loop {
        let page = store
            .records::<u8>(vec![b'x', 0], &query, Order::Descending)
            .await
            .unwrap();
        met.extend(page.items);
        query.page_token = page.next_page_token;
        if query.page_token.is_none() {
            break;
        }
    }
    assert_eq!(met, (0..10).rev().collect::<Vec<_>>());
}
